import { ByteWriter, encodeKeyBlock } from '@weir/core/contracts';
import type { Key, KeyGroup } from '@weir/core/contracts';

// The keys of rows, so that a key group, a state of it, and what a state has for one key are ranges:
//   value  key group, state, key
//   list   key group, state, key, sequence number: some elements, in the order of their numbers
//   map    key group, state, key, bytes of the map key
// Key group and state are u16, keys their bytes after a length, sequence numbers u64. Values are what the canonical rows have behind the key.

/** Of this order and what it holds. */
export const LAYOUT = '1';
/** Bytes of key group and state. */
export const STATE_PREFIX_BYTES = 4;

/** What all rows of a state in a key group begin with. */
export function statePrefix(group: KeyGroup, state: number): Uint8Array {
  return Uint8Array.of(group >> 8, group & 0xff, state >> 8, state & 0xff);
}
export function writeKeyPrefix(out: ByteWriter, group: KeyGroup, state: number, key: Key): void {
  out.u16(group);
  out.u16(state);
  encodeKeyBlock(key, out);
}
export function keyPrefix(group: KeyGroup, state: number, key: Key): Uint8Array {
  const out = new ByteWriter(32);
  writeKeyPrefix(out, group, state, key);
  return out.view();
}
export function writeSequence(out: ByteWriter, sequence: number): void {
  out.u32(Math.floor(sequence / 2 ** 32));
  out.u32(sequence % 2 ** 32);
}

/** The first key behind all that begin with `prefix`; undefined if there is none. */
export function endOf(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  // Not prefix.slice: that of a Buffer is a view.
  const end = new Uint8Array(prefix.subarray(0, length));
  end[length - 1] = end[length - 1]! + 1;
  return end;
}
/** The first key behind `key`. */
export function behind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
