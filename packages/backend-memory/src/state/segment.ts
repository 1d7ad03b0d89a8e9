import type { KeyIdentity } from '@weir/core/contracts';

export const SEGMENTS = 64;

/**
 * The segment of an index that a key belongs to. Cheap rather than even, for it is asked with every record: a few characters of a string,
 * the integer part of a number.
 */
export function segmentOf(identity: KeyIdentity): number {
  switch (typeof identity) {
    case 'string':
      return scatter(sample(identity));
    case 'number':
      return scatter(identity);
    case 'bigint':
      return scatter(Number(BigInt.asIntN(32, identity)));
    default:
      return identity ? 1 : 0;
  }
}

/** Numbered names differ at the end, or, if they have a common suffix, somewhere in their first half. */
function sample(text: string): number {
  const { length } = text;
  if (length < 4) return length === 0 ? 0 : text.charCodeAt(0) + (text.charCodeAt(length - 1) << 7) + (length << 14);
  const quarter = length >> 2;
  return (
    text.charCodeAt(length - 1) +
    (text.charCodeAt(length - 2) << 5) +
    (text.charCodeAt(quarter - 1) << 10) +
    (text.charCodeAt(quarter) << 15) +
    (text.charCodeAt(quarter + 1) << 20)
  );
}

/** The upper six bits of the product with 2^32 / golden ratio (Knuth's multiplicative hashing). */
function scatter(value: number): number {
  return Math.imul(value, 0x9e3779b1) >>> 26;
}
