import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { Serializer } from '../contracts/serializer.js';
import { WeirError, messageOf } from '../errors.js';
import type { ByteReader, ByteWriter } from '../element/bytes.js';
import { isWellFormed } from '../element/well-formed.js';
import { fault, refusalOf } from './fault.js';
import { findNegativeZeros, putNegativeZeros } from './negative-zeros.js';
import { examine } from './serializable-check.js';
import type { CodecPowers } from './serializable-check.js';

/** First byte of a value. */
const Tag = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  int32: 4,
  float64: 5,
  string: 6,
  /** What msgpackr packed, after its length. */
  packed: 7,
  /** The same, followed by the number of its -0s and their places, each as the distance from the one before. */
  withNegativeZeros: 8,
} as const;

// No shared structures: every block carries its own. Buffers are copied out, so that a value never pins the bytes of a whole snapshot.
const packr = new Packr({ structuredClone: true, moreTypes: true, copyBuffers: true, useToJSON: false });

/** Records of msgpackr have an index with an entry `__keys__`, and it renames `__proto__`. */
const POWERS: CodecPowers = {
  keepsLoneSurrogates: false,
  keepsHoles: false,
  lostNames: new Set(['__proto__', '__keys__']),
};

/** The packer keeps its working buffer; after a value larger than this it gets a small one again. */
const KEPT_BUFFER = 1 << 20;

/**
 * The serializer of every state that names none: msgpackr with a fast path for bare numbers, strings and booleans. Bytes are portable
 * between machines and versions of Node. What it takes comes back equal; anything else throws VALUE_NOT_SERIALIZABLE with the place inside
 * the value. Not kept are the stacks of errors and that an object is frozen.
 */
export const defaultSerializer: Serializer = { id: 'msgpack', version: 1, encode, decode };

function encode(value: unknown, out: ByteWriter): void {
  switch (typeof value) {
    case 'number':
      // The comparison takes -0 for 0, hence the second one.
      if ((value | 0) === value && (value !== 0 || !Object.is(value, -0))) {
        out.u8(Tag.int32);
        out.i32(value);
      } else {
        out.u8(Tag.float64);
        out.f64(value);
      }
      return;
    case 'string':
      if (!isWellFormed(value)) throw refusalOf(fault('is a string with a lone surrogate'));
      out.u8(Tag.string);
      out.text(value);
      return;
    case 'boolean':
      out.u8(value ? Tag.true : Tag.false);
      return;
    case 'undefined':
      out.u8(Tag.undefined);
      return;
    default:
      if (value === null) out.u8(Tag.null);
      else encodePacked(value, out);
  }
}

function encodePacked(value: unknown, out: ByteWriter): void {
  const { fault: found, hasNegativeZero } = examine(value, POWERS);
  if (found !== undefined) throw refusalOf(found);
  const packed = pack(value);
  out.u8(hasNegativeZero ? Tag.withNegativeZeros : Tag.packed);
  out.block(packed);
  if (hasNegativeZero) writeNegativeZeros(value as object, out);
  if (packed.length > KEPT_BUFFER) packr.useBuffer(Buffer.allocUnsafeSlow(8192));
}

/** A view into the packer's buffer, valid until the next call. */
function pack(value: unknown): Uint8Array {
  try {
    return packr.pack(value, RESET_BUFFER_MODE);
  } catch (error) {
    throw new WeirError('VALUE_NOT_SERIALIZABLE', `value could not be packed: ${messageOf(error)}`, {
      cause: error,
      recoverable: false,
    });
  }
}

function writeNegativeZeros(value: object, out: ByteWriter): void {
  const numbers = findNegativeZeros(value);
  out.varint(numbers.length);
  numbers.forEach((number, i) => out.varint(number - (numbers[i - 1] ?? 0)));
}

function readNegativeZeros(from: ByteReader): number[] {
  const numbers: number[] = [];
  for (let rest = from.varint(); rest > 0; rest--) numbers.push((numbers.at(-1) ?? 0) + from.varint());
  return numbers;
}

function decode(from: ByteReader): unknown {
  const tag = from.u8();
  switch (tag) {
    case Tag.undefined:
      return undefined;
    case Tag.null:
      return null;
    case Tag.false:
      return false;
    case Tag.true:
      return true;
    case Tag.int32:
      return from.i32();
    case Tag.float64:
      return from.f64();
    case Tag.string:
      return from.text();
    case Tag.packed:
      return packr.unpack(from.block());
    case Tag.withNegativeZeros: {
      const value = packr.unpack(from.block()) as object;
      putNegativeZeros(value, readNegativeZeros(from));
      return value;
    }
    default:
      throw new WeirError('CHECKPOINT_UNREADABLE', `no value of the serializer 'msgpack' begins with ${tag}.`);
  }
}
