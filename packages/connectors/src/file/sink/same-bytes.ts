import type { FileSystem } from '@weir/core/contracts';

const CHUNK_BYTES = 64 * 1024;

/** Whether two files have the same content. */
export async function sameBytes(fileSystem: FileSystem, a: string, b: string): Promise<boolean> {
  const first = await fileSystem.open(a, 'read');
  try {
    const second = await fileSystem.open(b, 'read');
    try {
      for (let at = 0; ; at += CHUNK_BYTES) {
        const [x, y] = [await first.read(at, CHUNK_BYTES), await second.read(at, CHUNK_BYTES)];
        if (Buffer.compare(x, y) !== 0) return false;
        if (x.length < CHUNK_BYTES) return true;
      }
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}
