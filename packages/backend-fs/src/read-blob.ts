import { crc32 } from 'node:zlib';
import {
  WeirError,
  type BlobHandle,
  type BlobPart,
  type FileBlob,
  type FileHandle,
  type FileSystem,
  type JobName,
  type SharedBlob,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { nameOf, readFailed } from './failure.js';
import { blobFile } from './layout.js';
import { requireFile } from './plain-file.js';

const READ_SIZE = 1 << 20;

/** The bytes behind a handle. CHECKPOINT_UNREADABLE if the file is missing, or not exactly the one that was written. */
export async function readBlob(
  fs: FileSystem,
  job: JobName,
  checkpoint: StoredCheckpoint,
  blob: BlobHandle,
): Promise<Uint8Array> {
  if (blob.kind === 'inline') return blob.bytes;
  return reading(fs, job, checkpoint, blob, async (file) => {
    const bytes = await readBytes(file, { offset: 0, length: blob.length });
    return { bytes, difference: await differenceOf(file, blob, bytes) };
  });
}

/** So many bytes of a file, of which only the number is verified. CHECKPOINT_UNREADABLE if they are not there. */
export async function readBlobPart(
  fs: FileSystem,
  job: JobName,
  checkpoint: StoredCheckpoint,
  blob: FileBlob | SharedBlob,
  part: BlobPart,
): Promise<Uint8Array> {
  return reading(fs, job, checkpoint, blob, async (file) => {
    const bytes = await readBytes(file, part);
    const wanted = part.offset + part.length;
    const difference =
      bytes.length === part.length ? undefined : `ends before byte ${String(wanted)} of ${String(blob.length)}`;
    return { bytes, difference };
  });
}

interface Read {
  readonly bytes: Uint8Array;
  /** From what was written; undefined: none. */
  readonly difference: string | undefined;
}

async function reading(
  fs: FileSystem,
  job: JobName,
  checkpoint: StoredCheckpoint,
  blob: FileBlob | SharedBlob,
  read: (file: FileHandle) => Promise<Read>,
): Promise<Uint8Array> {
  const path = blobFile(checkpoint.pointer, blob);
  const fault = `State of ${nameOf(checkpoint.id, job)} is unreadable: ${path ?? JSON.stringify(blob.path)}`;
  const damaged = (what: string): WeirError =>
    new WeirError('CHECKPOINT_UNREADABLE', `${fault} ${what}. Restore from another checkpoint.`, {
      recoverable: false,
    });
  if (path === undefined) throw damaged('is no name of a file in a checkpoint');
  try {
    await requireFile(fs, path);
    const file = await fs.open(path, 'read');
    try {
      const { bytes, difference } = await read(file);
      if (difference !== undefined) throw damaged(difference);
      return bytes;
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw readFailed(`${fault} cannot be read`, cause);
  }
}

/** Fewer if the file ends before. */
async function readBytes(file: FileHandle, { offset, length }: BlobPart): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let count = 0;
  while (count < length) {
    const chunk = await file.read(offset + count, Math.min(READ_SIZE, length - count));
    if (chunk.length === 0) break;
    bytes.set(chunk, count);
    count += chunk.length;
  }
  return bytes.subarray(0, count);
}

async function differenceOf(
  file: FileHandle,
  blob: FileBlob | SharedBlob,
  bytes: Uint8Array,
): Promise<string | undefined> {
  const { length } = bytes;
  if (length < blob.length) return `has ${String(length)} bytes instead of ${String(blob.length)}`;
  if ((await file.read(length, 1)).length > 0)
    return `has more than the ${String(blob.length)} bytes that were written`;
  const checksum = crc32(bytes);
  if (checksum !== blob.checksum) return `has the checksum ${hex(checksum)} instead of ${hex(blob.checksum)}`;
  return undefined;
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}
