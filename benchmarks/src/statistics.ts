/** The middle value; the mean of the two middle ones of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value that `share` of all are at or below. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** Smallest and largest, for how far a figure can be trusted. */
export function spread(values: readonly number[]): readonly [number, number] {
  return [round(Math.min(...values)), round(Math.max(...values))];
}

export function round(value: number): number {
  return Number(value.toPrecision(4));
}
