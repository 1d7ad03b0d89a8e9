import type { Key } from './key.js';

/** A total order over keys, for whatever must not depend on chance: by kind, then by value; tuples element by element. Equal: 0. */
export function compareKeys(a: Key, b: Key): number {
  if (typeof a === 'object') return typeof b === 'object' ? compareTuples(a, b) : 1;
  if (typeof b === 'object') return -1;
  if (typeof a !== typeof b) return typeof a < typeof b ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareTuples(a: readonly Key[], b: readonly Key[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareKeys(a[i] as Key, b[i] as Key);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
