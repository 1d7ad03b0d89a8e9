import { assertKey } from './assert-key.js';
import { MAX_KEY_DEPTH } from './assert-key.js';
import { ByteWriter } from './bytes.js';
import type { ByteReader } from './bytes.js';
import type { Key } from './key.js';

// The bytes of a key: a tag, then a big-endian payload up to the end. Equal keys have equal bytes and different keys different ones, for
// ever: keys are assigned to key groups by the hash of these bytes.

/** First byte of each kind of key. */
export const KeyTag = {
  false: 1,
  true: 2,
  /** A number that is an integer of 32 bits: i32. */
  int32: 3,
  /** Every other number: f64. */
  float64: 4,
  /** UTF-8. */
  string: 5,
  /** The magnitude in as few bytes as it needs, none for 0n. */
  bigint: 6,
  negativeBigint: 7,
  /** Each element's bytes after their length as a varint. */
  tuple: 8,
} as const;

/** Writes the bytes of a key. The key is one that `assertKey` let pass. */
export function encodeKey(key: Key, out: ByteWriter): void {
  switch (typeof key) {
    case 'string':
      out.u8(KeyTag.string);
      out.utf8(key);
      return;
    case 'number':
      // -0 equals 0 and becomes it.
      if ((key | 0) === key) {
        out.u8(KeyTag.int32);
        out.i32(key);
      } else {
        out.u8(KeyTag.float64);
        out.f64(key);
      }
      return;
    case 'boolean':
      out.u8(key ? KeyTag.true : KeyTag.false);
      return;
    case 'bigint':
      out.u8(key < 0n ? KeyTag.negativeBigint : KeyTag.bigint);
      out.bytes(magnitude(key));
      return;
    default:
      // Typed callers cannot get here with anything but a tuple; what a user's keyBy gives may be anything.
      if (!Array.isArray(key)) assertKey(key, 'A keyed operator');
      out.u8(KeyTag.tuple);
      for (const element of key as readonly Key[]) encodeKeyBlock(element, out);
  }
}

/** Writes the bytes of a key after their length as a varint. */
export function encodeKeyBlock(key: Key, out: ByteWriter): void {
  switch (typeof key) {
    case 'string':
      // At most three bytes a unit, so the length is known to take one byte: written last, nothing is measured twice.
      if (key.length <= 42) {
        const at = out.length;
        out.u8(0);
        out.u8(KeyTag.string);
        out.patchU8(at, 1 + out.utf8(key));
        return;
      }
      out.varint(1 + Buffer.byteLength(key));
      break;
    case 'number':
      out.u8((key | 0) === key ? 5 : 9);
      break;
    case 'boolean':
      out.u8(1);
      break;
    default:
      out.block(keyBytes(key));
      return;
  }
  encodeKey(key, out);
}

/** The bytes of a key in an array of their own. */
export function keyBytes(key: Key): Uint8Array {
  const out = new ByteWriter(64);
  encodeKey(key, out);
  return out.view();
}

/** Reads a key from its `length` bytes. Throws a RangeError for bytes that are no key's. */
export function decodeKey(from: ByteReader, length: number): Key {
  return decodeNested(from, length, 0);
}

/** Reads what {@link encodeKeyBlock} wrote. */
export function decodeKeyBlock(from: ByteReader): Key {
  return decodeNested(from, from.varint(), 0);
}

function decodeNested(from: ByteReader, length: number, depth: number): Key {
  const end = from.position + length;
  if (length < 1 || end > from.end) throw malformed(from);
  const key = decodePayload(from, from.u8(), end, depth);
  if (from.position !== end) throw malformed(from);
  return key;
}

function decodePayload(from: ByteReader, tag: number, end: number, depth: number): Key {
  switch (tag) {
    case KeyTag.false:
      return false;
    case KeyTag.true:
      return true;
    case KeyTag.int32:
      return from.i32();
    case KeyTag.float64: {
      const value = from.f64();
      if (Number.isNaN(value) || (value | 0) === value) throw malformed(from);
      return value;
    }
    case KeyTag.string:
      return from.utf8(end - from.position);
    case KeyTag.bigint:
      return decodeMagnitude(from, end);
    case KeyTag.negativeBigint: {
      const value = decodeMagnitude(from, end);
      if (value === 0n) throw malformed(from);
      return -value;
    }
    case KeyTag.tuple: {
      if (depth === MAX_KEY_DEPTH) throw malformed(from);
      const elements: Key[] = [];
      while (from.position < end) elements.push(decodeNested(from, from.varint(), depth + 1));
      return elements;
    }
    default:
      throw malformed(from);
  }
}

function magnitude(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array(0);
  const hex = (value < 0n ? -value : value).toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}

function decodeMagnitude(from: ByteReader, end: number): bigint {
  const bytes = from.bytes(end - from.position);
  if (bytes.length === 0) return 0n;
  if (bytes[0] === 0) throw malformed(from);
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`);
}

function malformed(from: ByteReader): RangeError {
  return new RangeError(`no key at byte ${String(from.position)} of ${String(from.end)}`);
}
