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

/** Numbered names differ at the end, or in the middle if they have a common suffix. */
function sample(text: string): number {
  const { length } = text;
  if (length < 2) return length === 0 ? 0 : text.charCodeAt(0);
  return text.charCodeAt(length - 1) + (text.charCodeAt(length - 2) << 7) + (text.charCodeAt(length >> 1) << 14);
}

/** The upper six bits of the product with 2^32 / golden ratio (Knuth's multiplicative hashing). */
function scatter(value: number): number {
  return Math.imul(value, 0x9e3779b1) >>> 26;
}
