import { crc32 } from 'node:zlib';
import type { RestorePlan } from '../contracts/coordinator.js';
import type { BlobHandle } from '../contracts/snapshot.js';
import { unreadable } from './unreadable.js';

/** Read at once; a file of a database has some ten of them. */
const PART_BYTES = 4 * 1024 * 1024;

/**
 * The bytes of a blob in order, in parts where the storage can read those, and then verified here: CHECKPOINT_UNREADABLE after the last one if the
 * whole is not what was written. `what` names them in messages.
 */
export async function* openBlob(
  blob: BlobHandle,
  stored: Pick<RestorePlan, 'read' | 'readPart'>,
  what: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (blob.kind === 'inline' || stored.readPart === undefined || blob.length <= PART_BYTES) {
    yield await stored.read(blob);
    return;
  }
  let checksum = 0;
  for (let offset = 0; offset < blob.length; offset += PART_BYTES) {
    const bytes = await stored.readPart(blob, { offset, length: Math.min(PART_BYTES, blob.length - offset) });
    checksum = crc32(bytes, checksum);
    yield bytes;
  }
  if (checksum !== blob.checksum) throw unreadable(what, `file ${blob.path} is damaged: its checksum differs`);
}
