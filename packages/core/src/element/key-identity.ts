import type { Key } from './key.js';
import { keyBytes } from './key-bytes.js';

/** What a `Map` or `Set` can find a key by. */
export type KeyIdentity = string | number | bigint | boolean;

// No key is a string with a lone surrogate, so no string key begins like this.
const TUPLE = '\ud800';

/** Equal keys have the same identity, different keys different ones: the key itself, or for a tuple a string that is no key. */
export function keyIdentity(key: Key): KeyIdentity {
  switch (typeof key) {
    case 'object': {
      const bytes = keyBytes(key);
      return TUPLE + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    }
    case 'number':
      // -0 becomes 0.
      return key + 0;
    default:
      return key;
  }
}
