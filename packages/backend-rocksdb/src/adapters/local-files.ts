import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { WeirError, messageOf } from '@weir/core/contracts';

/** Local files of a database. */
export interface LocalFile {
  readonly name: string;
  readonly length: number;
}

const CHUNK_BYTES = 512 * 1024;

export async function filesIn(directory: string): Promise<readonly LocalFile[]> {
  const names = (await readdir(directory)).sort();
  return Promise.all(names.map(async (name) => ({ name, length: (await stat(`${directory}/${name}`)).size })));
}

/**
 * The bytes of a file that does not change. Each chunk is the caller's to keep. The file is open only while a chunk is read: whoever takes the
 * chunks may never come back for the next.
 */
export async function* readChunks(path: string, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length;) {
    const chunk = await readAt(path, at, Math.min(CHUNK_BYTES, length - at));
    if (chunk.length === 0) throw new Error(`${path} ends at byte ${String(at)} of ${String(length)}`);
    at += chunk.length;
    yield chunk;
  }
}

async function readAt(path: string, position: number, length: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const chunk = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await file.read(chunk, 0, length, position);
    return chunk.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The file is new. Not synced: it is of use to this process alone. */
export async function writeChunks(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
    }
  } finally {
    await file.close();
  }
}

export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}

export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
}

/** The working directory cannot be used as it should. */
export function localFailure(path: string, cause: unknown): WeirError {
  return new WeirError(
    'ROCKSDB_FAILED',
    `Working state of RocksDB cannot be kept at ${path}: ${messageOf(cause)}. Make room or give rights there, or set 'dir' (state.backend.rocksdb.localdir) to another directory.`,
    { cause },
  );
}
