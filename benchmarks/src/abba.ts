import type { Rate } from './rate.js';

/** One contestant over another. */
export interface Ratio {
  readonly cpu: number;
  readonly wall: number;
}

/**
 * Each contestant twice, in one order and then back: a machine that gets steadily faster or slower meanwhile favours none. Every other round
 * begins at the other end. Gives the mean of the two.
 */
export async function thereAndBack<K extends string>(
  round: number,
  contestants: Readonly<Record<K, () => Rate | Promise<Rate>>>,
): Promise<Readonly<Record<K, Rate>>> {
  const names = Object.keys(contestants) as K[];
  const forth = round % 2 === 0 ? names : names.toReversed();
  const rates = new Map<K, Rate[]>(names.map((name) => [name, []]));
  for (const name of [...forth, ...forth.toReversed()]) rates.get(name)!.push(await contestants[name]());
  return Object.fromEntries([...rates].map(([name, both]) => [name, meanOf(both)])) as Record<K, Rate>;
}

export function ratioOf(a: Rate, b: Rate): Ratio {
  return {
    cpu: a.recordsPerCpuSecond / b.recordsPerCpuSecond,
    wall: a.recordsPerSecond / b.recordsPerSecond,
  };
}

/** The share that is lost where `ratio` of something is left. */
export function lossOf({ cpu, wall }: Ratio): Ratio {
  return { cpu: 1 - cpu, wall: 1 - wall };
}

function meanOf(rates: readonly Rate[]): Rate {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    recordsPerSecond: mean(rates.map(({ recordsPerSecond }) => recordsPerSecond)),
    recordsPerCpuSecond: mean(rates.map(({ recordsPerCpuSecond }) => recordsPerCpuSecond)),
  };
}
