import {
  localFileSystem,
  NO_METRICS,
  SILENT,
  systemClock,
  type FileSystem,
  type ReaderContext,
} from '@weir/core/contracts';
import type { Decoder } from './format/decoder.js';
import { fileSource } from './source/file-source.js';
import { listFiles, locate } from './source/find-files.js';

/**
 * All records of the finished files that file sinks have put into a folder, file by file in the order of their names: what another program sees.
 * Pending and unfinished files are left out; a folder that is not there has no records.
 */
export async function readCommitted<T>(
  dir: string,
  format: Decoder<T>,
  fileSystem: FileSystem = localFileSystem(),
): Promise<T[]> {
  const source = fileSource({ path: dir, format, fileSystem });
  const records: T[] = [];
  for (const id of await listFiles(fileSystem, await locate(fileSystem, dir), CONTEXT)) {
    const reader = await source.open({ id }, undefined, CONTEXT);
    try {
      for (;;) {
        const batch = await reader.poll(1024);
        if (batch === 'end') break;
        for (const record of batch) records.push(record);
      }
    } finally {
      await reader.close();
    }
  }
  return records;
}

const CONTEXT: ReaderContext = {
  job: 'readCommitted',
  uid: 'readCommitted',
  attempt: 1,
  parallelism: 1,
  subtask: 0,
  clock: systemClock,
  random: () => 0,
  logger: SILENT,
  metrics: NO_METRICS,
  signal: new AbortController().signal,
};
