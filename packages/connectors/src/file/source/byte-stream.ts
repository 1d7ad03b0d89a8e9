import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { classifyFailure, type FileHandle } from '@weir/core/contracts';
import { undecodable, type InputFile } from './input-file.js';

/** The (decompressed) bytes of a file, one chunk after the other. */
export interface ByteStream {
  /** Empty at the end. Not called while a call is outstanding. */
  next(): Promise<Uint8Array>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 256 * 1024;

/** The bytes from `offset` on. A file with fewer bytes gives none. A gzip file is decompressed from its beginning. */
export async function openBytes(file: InputFile, offset: number): Promise<ByteStream> {
  const handle = await file.fileSystem.open(file.path, 'read');
  if (!file.gzip) return plain(handle, offset);
  return skipping(decompressed(file, handle), offset);
}

function plain(handle: FileHandle, offset: number): ByteStream {
  let at = offset;
  return {
    async next() {
      const bytes = await handle.read(at, CHUNK_BYTES);
      at += bytes.length;
      return bytes;
    },
    close: () => handle.close(),
  };
}

function decompressed(file: InputFile, handle: FileHandle): ByteStream {
  const compressed = plain(handle, 0);
  const input = Readable.from(chunksOf(compressed), { objectMode: false, highWaterMark: CHUNK_BYTES });
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  input.on('error', (error) => gunzip.destroy(error));
  const output = input.pipe(gunzip)[Symbol.asyncIterator]();
  let length = 0;
  return {
    async next() {
      try {
        const result = (await output.next()) as IteratorResult<Uint8Array, undefined>;
        const bytes = result.done === true ? new Uint8Array(0) : result.value;
        length += bytes.length;
        return bytes;
      } catch (error) {
        if (classifyFailure(error) !== 'permanent') throw error;
        const problem = `cannot be decompressed as gzip beyond byte ${String(length)} of its content`;
        throw undecodable(file, problem, error);
      }
    },
    async close() {
      gunzip.destroy();
      input.destroy();
      await compressed.close();
    },
  };
}

async function* chunksOf(stream: ByteStream): AsyncGenerator<Uint8Array, void> {
  for (let chunk = await stream.next(); chunk.length > 0; chunk = await stream.next()) yield chunk;
}

function skipping(stream: ByteStream, count: number): ByteStream {
  let left = count;
  return {
    async next() {
      for (;;) {
        const chunk = await stream.next();
        if (chunk.length === 0) return chunk;
        const skipped = Math.min(left, chunk.length);
        left -= skipped;
        if (skipped < chunk.length) return chunk.subarray(skipped);
      }
    },
    close: () => stream.close(),
  };
}
