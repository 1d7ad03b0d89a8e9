import { deserialize, serialize } from 'node:v8';
import type { Serializer } from '../contracts/serializer.js';
import { WeirError, messageOf } from '../errors.js';

/**
 * The structured clone algorithm of V8. Also takes -0 inside of objects, sparse arrays and deep nesting, but is slower, takes instances of
 * classes for plain objects without a word, and its bytes are read only by the same or a newer version of Node.
 */
export const v8Serializer: Serializer = {
  id: 'v8',
  version: 1,
  encode(value, out) {
    let bytes: Uint8Array;
    try {
      bytes = serialize(value);
    } catch (error) {
      throw new WeirError('VALUE_NOT_SERIALIZABLE', `value cannot be cloned: ${messageOf(error)}`, {
        cause: error,
        recoverable: false,
      });
    }
    out.block(bytes);
  },
  decode: (from) => deserialize(from.block()) as unknown,
};
