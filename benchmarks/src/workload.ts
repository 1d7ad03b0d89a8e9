export type KeyKind = 'string' | 'number';
export interface Input {
  readonly key: string | number;
  readonly value: number;
}
export interface Total {
  readonly key: string | number;
  readonly total: number;
}

/** Records that are read over and over; a power of two. */
const LENGTH = 1 << 20;

/**
 * Records with uniformly random keys. String keys are objects of their own in every record, as they are when they come from a file or a socket:
 * a lookup compares their characters.
 */
export function workload(kind: KeyKind, keys: number): readonly Input[] {
  const random = generator();
  return Array.from({ length: LENGTH }, (_, i) => {
    const number = Math.floor(random() * keys);
    return { key: kind === 'number' ? number : nameOf(number), value: i & 1023 };
  });
}

/** Exponent of the distribution of keys in what people look up: with 1,000,000 keys an eighth of all records has the most frequent one, two thirds one of the first thousand. */
const ZIPF_EXPONENT = 1.1;

/** As {@link workload} with string keys, whose frequencies follow Zipf's law; frequent keys are spread over all numbers. */
export function zipf(keys: number): readonly Input[] {
  const until = new Float64Array(keys);
  let sum = 0;
  for (let rank = 0; rank < keys; rank++) until[rank] = sum += 1 / (rank + 1) ** ZIPF_EXPONENT;
  const random = generator();
  return Array.from({ length: LENGTH }, (_, i) => {
    const rank = firstAbove(until, random() * sum);
    return { key: nameOf((rank * 7_368_787) % keys), value: i & 1023 };
  });
}

function firstAbove(ascending: Float64Array, wanted: number): number {
  let [low, high] = [0, ascending.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Records of which the first `keys` have a key of their own each; a power of two. */
export function distinct(keys: number): readonly Input[] {
  return Array.from({ length: 1 << Math.ceil(Math.log2(keys)) }, (_, i) => ({
    key: nameOf(i % keys),
    value: 1,
  }));
}

function nameOf(number: number): string {
  return `key-${String(number).padStart(7, '0')}`;
}

/** Always the same numbers from 0 to below 1. */
function generator(): () => number {
  let seed = 12345;
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

const DIGITS = 16;
/** With its key a row of about 100 bytes. */
const FILLER = 'x'.repeat(72);

/** A sum as a text that is as long as what people keep for a key. */
export function textOf(total: number): string {
  return String(total).padStart(DIGITS) + FILLER;
}
export function totalIn(text: string): number {
  return Number(text.slice(0, DIGITS));
}

// The three steps before the sum, the same in every program that is compared.
export const project = (record: Input): Input => ({ key: record.key, value: record.value + 1 });
export const accept = (record: Input): boolean => record.value % 8 !== 0;
