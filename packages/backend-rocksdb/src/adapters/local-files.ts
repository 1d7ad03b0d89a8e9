import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';

/** Local files of a database. */
export interface LocalFile {
  readonly name: string;
  readonly length: number;
}

const CHUNK_BYTES = 256 * 1024;

export async function filesIn(directory: string): Promise<readonly LocalFile[]> {
  const names = (await readdir(directory)).sort();
  return Promise.all(names.map(async (name) => ({ name, length: (await stat(`${directory}/${name}`)).size })));
}

/** Each chunk is the caller's to keep. */
export async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      yield chunk.subarray(0, bytesRead);
    }
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
