import type { Key } from './key.js';

/** What kind of value a key is; of an array no more than that. */
export type KeyType = 'string' | 'number' | 'bigint' | 'boolean' | 'array';

/** In the order in which lists of them name them. */
export const KEY_TYPES: readonly KeyType[] = ['string', 'number', 'bigint', 'boolean', 'array'];

export function keyTypeOf(key: Key): KeyType {
  const type = typeof key;
  // A key is one of these or an array.
  return type === 'object' ? 'array' : (type as KeyType);
}
