import { ByteReader } from './bytes.js';
import { decodeKey, keyBytes } from './key-bytes.js';
import type { Key } from './key.js';

/**
 * The key as a snapshot would give it back: 0 for -0, and a tuple that nobody else can change. A string is copied: it may be a part of a long
 * text that it would keep alive, and keys that lie close together are found faster than those that lie among the records they came with.
 */
export function ownKey(key: Key): Key {
  switch (typeof key) {
    case 'string':
      return Buffer.from(key).toString();
    case 'number':
      return key + 0;
    case 'object': {
      const bytes = keyBytes(key);
      return decodeKey(new ByteReader(bytes), bytes.length);
    }
    default:
      return key;
  }
}
