import { ByteReader, ByteWriter, decodeKeyBlock, encodeKeyBlock, WeirError, type Key } from '@weir/core/contracts';

// key group (u16) | state (u8) | key, after its length | of map state: map key, after its length; of list state: index (u32)
// In the order of these bytes a key group is one range, and what a key has of a state is one range within it.

const HEAD_BYTES = 3;
/** LMDB takes no longer ones. */
const MOST_BYTES = 1978;

/** Used by one call at a time. */
const out = new ByteWriter();

export function rowKey(keyGroup: number, state: number, key: Key): Buffer {
  out.reset();
  out.u16(keyGroup);
  out.u8(state);
  encodeKeyBlock(key, out);
  return written();
}

export function mapRowKey(row: Buffer, mapKey: Key): Buffer {
  out.reset();
  out.bytes(row);
  encodeKeyBlock(mapKey, out);
  return written();
}

export function listRowKey(row: Buffer, index: number): Buffer {
  out.reset();
  out.bytes(row);
  out.u32(index);
  return written();
}

export function placeOf(row: Buffer): { readonly keyGroup: number; readonly state: number } {
  return { keyGroup: row.readUInt16BE(0), state: row.readUInt8(2) };
}

/** Key and, of map state, map key, in the bytes that rows of a checkpoint begin with. */
export function keysIn(row: Buffer): Buffer {
  return row.subarray(HEAD_BYTES);
}

export function decodeKeys(row: Buffer): ByteReader {
  return new ByteReader(row, HEAD_BYTES);
}

export function mapKeyIn(row: Buffer): Key {
  const from = decodeKeys(row);
  decodeKeyBlock(from);
  return decodeKeyBlock(from);
}

function written(): Buffer {
  if (out.length <= MOST_BYTES) return Buffer.from(out.view());
  throw new WeirError(
    'STATE_TOO_LARGE',
    `A key of ${String(out.length)} bytes does not fit into LMDB, which takes ${String(MOST_BYTES)}. Key by a hash of it.`,
    { recoverable: false },
  );
}
