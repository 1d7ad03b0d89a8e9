import type { Key } from './key.js';
import { KeyTag, encodeKey } from './key-bytes.js';
import { ByteWriter } from './bytes.js';

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

const scratch = new ByteWriter(64);

/**
 * murmur3_x86_32 with seed 0 over the bytes of a key, as a signed 32-bit integer. ASCII strings and 32-bit integers are hashed
 * in place, without their bytes being written anywhere.
 */
export function hashKey(key: Key): number {
  if (typeof key === 'string') return hashText(key);
  if (typeof key === 'number' && (key | 0) === key) return hashInt32(key);
  return hashOfBytes(key);
}

function hashOfBytes(key: Key): number {
  scratch.reset();
  encodeKey(key, scratch);
  return murmur3(scratch.view());
}

/** murmur3_x86_32 with seed 0 (Austin Appleby's MurmurHash3). */
export function murmur3(bytes: Uint8Array): number {
  const length = bytes.length;
  const blocks = length & ~3;
  let h = 0;
  for (let i = 0; i < blocks; i += 4) {
    h = mixBlock(h, bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
  }
  let tail = 0;
  for (let i = length - 1; i >= blocks; i--) tail = (tail << 8) | bytes[i]!;
  return finish(mixTail(h, tail), length);
}

function hashText(text: string): number {
  const units = text.length;
  // The tag is the first byte of the first block, so a block begins at every fourth unit from the fourth.
  let seen = 0;
  let h = 0;
  let block: number = KeyTag.string;
  let shift = 8;
  for (let i = 0; i < units; i++) {
    const unit = text.charCodeAt(i);
    seen |= unit;
    block |= unit << shift;
    shift += 8;
    if (shift === 32) {
      h = mixBlock(h, block);
      block = 0;
      shift = 0;
    }
  }
  if (seen >= 0x80) return hashOfBytes(text);
  return finish(mixTail(h, block), units + 1);
}

function hashInt32(value: number): number {
  const block = KeyTag.int32 | ((value >>> 24) << 8) | (((value >>> 16) & 0xff) << 16) | ((value >>> 8) << 24);
  return finish(mixTail(mixBlock(0, block), value & 0xff), 5);
}

function mixBlock(hash: number, block: number): number {
  const h = mixTail(hash, block);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/** With no bytes left `tail` is 0 and changes nothing. */
function mixTail(hash: number, tail: number): number {
  const k = Math.imul(tail, C1);
  return hash ^ Math.imul((k << 15) | (k >>> 17), C2);
}

function finish(hash: number, length: number): number {
  let h = hash ^ length;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
