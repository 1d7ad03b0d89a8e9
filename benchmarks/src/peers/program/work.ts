// What all programs compute, in whatever language: a running sum per key of records that come from their number alone.

export interface Item {
  readonly key: string;
  readonly value: number;
}
export interface Sum {
  readonly key: string;
  readonly total: number;
}

/** The number times 2654435761, modulo 2^32, modulo `keys`. A product of doubles would lose bits from 3,400,000 on. */
function keyNumber(i: number, keys: number): number {
  return (Math.imul(i, 2654435761) >>> 0) % keys;
}

export function item(i: number, keys: number): Item {
  return { key: `k${String(keyNumber(i, keys))}`, value: i % 100 };
}
/** For what is to be restored: each key once in so many records, and nothing that the filter drops. */
export function itemOfEachKey(i: number, keys: number): Item {
  return { key: `k${String(i % keys)}`, value: 1 };
}

export const project = ({ key, value }: Item): Item => ({ key, value: value * 3 + 1 });
export const accept = ({ value }: Item): boolean => value % 10 !== 3;

/** Of `count` records, a multiple of ten, those that the filter lets through. */
export function accepted(count: number): number {
  return (count / 10) * 9;
}
