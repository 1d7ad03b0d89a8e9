import { deserialize, serialize } from 'node:v8';
import type { Serializer } from '../contracts/serializer.js';
import { WeirError, messageOf } from '../errors.js';
import { refusalOf } from './fault.js';
import { examine } from './serializable-check.js';
import type { CodecPowers } from './serializable-check.js';

const POWERS: CodecPowers = { keepsLoneSurrogates: true, keepsHoles: true, lostNames: new Set() };

/**
 * The structured clone algorithm of V8. Takes a little more than the default serializer (lone surrogates, holes in arrays, any property name), but
 * is slower, and its bytes are read only by the same or a newer version of Node.
 */
export const v8Serializer: Serializer = {
  id: 'v8',
  version: 1,
  encode(value, out) {
    const { fault } = examine(value, POWERS);
    if (fault !== undefined) throw refusalOf(fault);
    out.block(cloned(value));
  },
  // From a copy: typed arrays come back as views of what they were read from, which may be a whole snapshot.
  decode: (from) => deserialize(new Uint8Array(from.block())) as unknown,
};

function cloned(value: unknown): Uint8Array {
  try {
    return serialize(value);
  } catch (error) {
    throw new WeirError('VALUE_NOT_SERIALIZABLE', `value cannot be cloned: ${messageOf(error)}`, {
      cause: error,
      recoverable: false,
    });
  }
}
