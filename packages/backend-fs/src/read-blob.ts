import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  WeirError,
  isWeirError,
  messageOf,
  type BlobHandle,
  type FileBlob,
  type FileHandle,
  type FileSystem,
  type JobName,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { nameOf } from './failure.js';

const READ_SIZE = 1 << 20;

/** The bytes behind a handle. CHECKPOINT_UNREADABLE if the file is missing, or not exactly the one that was written. */
export async function readBlob(
  fs: FileSystem,
  job: JobName,
  checkpoint: StoredCheckpoint,
  blob: BlobHandle,
): Promise<Uint8Array> {
  if (blob.kind === 'inline') return blob.bytes;
  const path = join(checkpoint.pointer, blob.path);
  const damaged = (what: string, cause?: unknown): WeirError =>
    new WeirError(
      'CHECKPOINT_UNREADABLE',
      `State of ${nameOf(checkpoint.id, job)} is unreadable: ${path} ${what}. Restore from another checkpoint.`,
      { cause },
    );
  try {
    const file = await fs.open(path, 'read');
    try {
      const { bytes, difference } = await readChecked(file, blob);
      if (difference !== undefined) throw damaged(difference);
      return bytes;
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw isWeirError(cause) ? cause : damaged(`cannot be read (${messageOf(cause)})`, cause);
  }
}

async function readChecked(
  file: FileHandle,
  blob: FileBlob,
): Promise<{ readonly bytes: Uint8Array; readonly difference: string | undefined }> {
  const bytes = Buffer.allocUnsafeSlow(blob.length);
  let checksum = 0;
  let length = 0;
  while (length < blob.length) {
    const chunk = await file.read(length, Math.min(READ_SIZE, blob.length - length));
    if (chunk.length === 0) break;
    bytes.set(chunk, length);
    checksum = crc32(chunk, checksum);
    length += chunk.length;
  }
  return { bytes, difference: await difference() };

  async function difference(): Promise<string | undefined> {
    if (length < blob.length) return `has ${String(length)} bytes instead of ${String(blob.length)}`;
    if ((await file.read(length, 1)).length > 0)
      return `has more than the ${String(blob.length)} bytes that were written`;
    if (checksum !== blob.checksum) return `has the checksum ${hex(checksum)} instead of ${hex(blob.checksum)}`;
    return undefined;
  }
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}
