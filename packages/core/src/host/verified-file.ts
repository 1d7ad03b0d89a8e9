import { crc32 } from 'node:zlib';
import type { FileSystem } from '../contracts/file-system.js';
import type { BlobPart, FileBlob, SharedBlob } from '../contracts/snapshot.js';

type Expected = Pick<FileBlob | SharedBlob, 'length' | 'checksum'>;

const CHUNK_BYTES = 1024 * 1024;

/** The bytes of a file if they are what is expected; otherwise undefined, and the file is removed. Fails if it cannot be read. */
export async function readVerified(
  fileSystem: FileSystem,
  path: string,
  expected: Expected,
): Promise<Uint8Array | undefined> {
  // First, so that a file of another length is not read into memory.
  if ((await fileSystem.stat(path)).size === expected.length) {
    const bytes = await fileSystem.readFile(path);
    if (bytes.length === expected.length && crc32(bytes) === expected.checksum) return bytes;
  }
  await fileSystem.remove(path);
  return undefined;
}

/** A part of such a file. The whole is verified once, and remembered in `verified`. */
export async function verifiedPart(
  fileSystem: FileSystem,
  path: string,
  expected: Expected,
  part: BlobPart,
  verified: Map<string, Promise<boolean>>,
): Promise<Uint8Array | undefined> {
  let isWhole = verified.get(path);
  if (isWhole === undefined) {
    isWhole = verify(fileSystem, path, expected);
    verified.set(path, isWhole);
  }
  if (!(await isWhole)) return undefined;
  const file = await fileSystem.open(path, 'read');
  try {
    const bytes = await file.read(part.offset, part.length);
    return bytes.length === part.length ? bytes : undefined;
  } finally {
    await file.close();
  }
}

async function verify(fileSystem: FileSystem, path: string, expected: Expected): Promise<boolean> {
  let length = 0;
  let checksum = 0;
  const file = await fileSystem.open(path, 'read');
  try {
    for (;;) {
      const bytes = await file.read(length, CHUNK_BYTES);
      if (bytes.length === 0) break;
      checksum = crc32(bytes, checksum);
      length += bytes.length;
    }
  } finally {
    await file.close();
  }
  if (length === expected.length && checksum === expected.checksum) return true;
  await fileSystem.remove(path);
  return false;
}
