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
  let seed = 12345;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  return Array.from({ length: LENGTH }, (_, i) => {
    const number = Math.floor(random() * keys);
    return { key: kind === 'number' ? number : `key-${String(number).padStart(7, '0')}`, value: i & 1023 };
  });
}

/** Records of which the first `keys` have a key of their own each; a power of two. */
export function distinct(keys: number): readonly Input[] {
  return Array.from({ length: 1 << Math.ceil(Math.log2(keys)) }, (_, i) => ({
    key: `key-${String(i % keys).padStart(7, '0')}`,
    value: 1,
  }));
}

// The three steps before the sum, the same in every program that is compared.
export const project = (record: Input): Input => ({ key: record.key, value: record.value + 1 });
export const accept = (record: Input): boolean => record.value % 8 !== 0;
