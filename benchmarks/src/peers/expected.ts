/** What a program must come to. */
export interface Expected {
  readonly count: number;
  /** All running sums, modulo 2^32. */
  readonly checksum: number;
  /** The sums at the end, modulo 2^32. */
  readonly finalSum: number;
}

/** For each of `counts`, by another way than the programs: an array by the number of the key, and integers without bound at the end. */
export function expectedOf(keys: number, counts: readonly number[]): ReadonlyMap<number, Expected> {
  const results = new Map<number, Expected>();
  const totals = new Float64Array(keys);
  let count = 0;
  let final = 0;
  // Exact: it stays far below 2^53 between two folds.
  let sum = 0;
  let folded = 0n;
  let i = 0;
  for (const end of [...new Set(counts)].toSorted((a, b) => a - b)) {
    for (; i < end; i++) {
      const value = (i % 100) * 3 + 1;
      if (value % 10 === 3) continue;
      const key = hash(i) % keys;
      totals[key] = totals[key]! + value;
      final += value;
      sum += totals[key];
      count++;
      if (sum <= 2 ** 51) continue;
      folded += BigInt(sum);
      sum = 0;
    }
    results.set(end, {
      count,
      checksum: Number((folded + BigInt(sum)) & 0xffffffffn),
      finalSum: final % 4294967296,
    });
  }
  return results;
}

/** In two halves of 16 bits, so that no product leaves 2^53. */
function hash(i: number): number {
  const low = (i & 0xffff) * 2654435761;
  const high = ((i >>> 16) * 2654435761) % 65536;
  return (low + high * 65536) % 4294967296;
}
