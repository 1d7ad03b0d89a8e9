import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { Serializer } from '../contracts/serializer.js';
import { WeirError, isWeirError, messageOf } from '../errors.js';
import type { ByteReader, ByteWriter } from '../element/bytes.js';
import { isWellFormed } from '../element/well-formed.js';
import type { Fault } from './fault.js';
import { fault } from './fault.js';
import { findFault } from './survival.js';

/** First byte of a value. What is not listed is a msgpackr block. */
const Tag = { undefined: 0, null: 1, false: 2, true: 3, int32: 4, float64: 5, string: 6, block: 7 } as const;

// No shared structures: every block carries its own. Buffers are copied out, so that a value never pins the bytes of a whole snapshot.
const packr = new Packr({ structuredClone: true, moreTypes: true, copyBuffers: true });

/** The packer keeps its working buffer; after a value larger than this it gets a small one again. */
const KEPT_BUFFER = 1 << 20;

/**
 * The serializer of every state that names none: msgpackr with a fast path for bare numbers, strings and booleans. Bytes are portable
 * between machines and versions of Node. What it takes comes back equal; anything else throws VALUE_NOT_SERIALIZABLE with the place inside
 * the value. Stacks of errors are not kept, nor is an object's being frozen.
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
      if (!isWellFormed(value)) throw refused(fault('is a string with a lone surrogate'));
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
      else encodeBlock(value, out);
  }
}

function encodeBlock(value: unknown, out: ByteWriter): void {
  const packed = pack(value);
  out.u8(Tag.block);
  out.block(packed);
  if (packed.length > KEPT_BUFFER) packr.useBuffer(Buffer.allocUnsafeSlow(8192));
}

/** A view into the packer's buffer, valid until the next call. */
function pack(value: unknown): Uint8Array {
  try {
    const found = findFault(value);
    if (found !== undefined) throw refused(found);
    return packr.pack(value, RESET_BUFFER_MODE);
  } catch (error) {
    if (isWeirError(error)) throw error;
    throw new WeirError('VALUE_NOT_SERIALIZABLE', `value could not be packed: ${messageOf(error)}`, {
      cause: error,
      recoverable: false,
    });
  }
}

function refused(found: Fault): WeirError {
  return new WeirError(
    'VALUE_NOT_SERIALIZABLE',
    `value${found.path} ${found.what}, which would not come back from a checkpoint as it was. ` +
      `Keep plain data in state, or give the state a serializer.`,
    { recoverable: false },
  );
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
    case Tag.block:
      return packr.unpack(from.block());
    default:
      throw new WeirError('CHECKPOINT_UNREADABLE', `no value of the serializer 'msgpack' begins with ${tag}.`);
  }
}
