import { join } from 'node:path';
import {
  ByteWriterPool,
  WeirError,
  localFileSystem,
  type CheckpointStorage,
  type FileSystem,
} from '@weir/core/contracts';
import { systemProcesses, type ProcessTable } from './adapters/process-identity.js';
import { randomId } from './adapters/random-id.js';
import { FsJobStorage } from './fs-job-storage.js';
import { jobFolderName, pathOf } from './layout.js';

export interface FsStorageOptions {
  /** Folder for the checkpoints of any number of jobs, made when needed: a path (relative ones start at the present working directory) or a `file:` URL. */
  readonly checkpointsDir: string;
  /** Folder for savepoints that nobody gives another: a path or a `file:` URL. Default: none. */
  readonly savepointsDir?: string | undefined;
  /** Default: the local disk. */
  readonly fileSystem?: FileSystem | undefined;
  /** State of at most so many bytes is stored inside `_metadata` instead of in a file of its own: 0 to 1 MiB, default 20 KiB. */
  readonly inlineThreshold?: number | undefined;
  /** Bytes collected before they are written; at least the inline threshold is used. Default 4 KiB. */
  readonly writeBufferSize?: number | undefined;
  /** Names that nobody makes twice, of letters, digits, `-` and `_`. Default: random UUIDs. */
  readonly newId?: (() => string) | undefined;
  /** Tells which process owns the lock and whether it lives. Default: this machine's. */
  readonly processes?: ProcessTable | undefined;
}

const LARGEST_THRESHOLD = 1024 * 1024;
/** Room that buffers keep from one checkpoint to the next. */
const POOLED_BYTES = 8 * 1024 * 1024;

/**
 * Checkpoints in a directory (Flink: FileSystemCheckpointStorage). Everything it reports as done survives a crash of the machine.
 * One process at a time per job; processes of the same machine keep each other out. CONFIG_INVALID for options out of range.
 */
export function createFsStorage(options: FsStorageOptions): CheckpointStorage {
  const { fileSystem = localFileSystem(), newId = randomId, processes = systemProcesses } = options;
  if (options.checkpointsDir === '') throw new WeirError('CONFIG_INVALID', 'checkpointsDir is empty: give a folder.');
  if (options.savepointsDir === '') throw new WeirError('CONFIG_INVALID', 'savepointsDir is empty: give a folder.');
  const folder = pathOf(options.checkpointsDir, 'checkpointsDir');
  const savepointsFolder =
    options.savepointsDir === undefined ? undefined : pathOf(options.savepointsDir, 'savepointsDir');
  const inlineThreshold = bytesIn('inlineThreshold', options.inlineThreshold ?? 20 * 1024, 0, LARGEST_THRESHOLD);
  const writeBufferSize = bytesIn('writeBufferSize', options.writeBufferSize ?? 4096, 1, Number.MAX_SAFE_INTEGER);
  const limits = { inlineThreshold, bufferSize: Math.max(writeBufferSize, inlineThreshold) };
  return {
    type: 'fs',
    capabilities: { durable: true, locks: true, savepoints: true, sharedFiles: true },
    async open(scope) {
      const { job } = scope;
      const jobFolder = join(folder, jobFolderName(job));
      const buffers = new ByteWriterPool({ pooledBytes: POOLED_BYTES });
      const place = { fileSystem, job, jobFolder, savepointsFolder, limits, buffers, newId, processes };
      return new FsJobStorage(place, scope);
    },
  };
}

function bytesIn(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new WeirError(
    'CONFIG_INVALID',
    `${name} is ${String(value)}: a whole number of bytes from ${String(least)} to ${String(most)} is needed.`,
  );
}
