import { engineOf } from './engines.js';

export const KEYS = [1_000, 100_000, 1_000_000] as const;

/** One engine, and how many records it gets for each number of {@link KEYS}, sized for 6 to 15 seconds; 0: none, it would take too long. */
export interface Entry {
  readonly engine: string;
  readonly parallelism: number;
  readonly counts: readonly [number, number, number];
  /** Variants, measured when asked for. */
  readonly extra?: true;
}

const M = 1_000_000;

export const PLAN: readonly Entry[] = [
  { engine: 'loop', parallelism: 1, counts: [100 * M, 40 * M, 12 * M] },
  { engine: 'rxjs-map', parallelism: 1, counts: [60 * M, 40 * M, 12 * M] },
  { engine: 'rxjs-groupby', parallelism: 1, counts: [20 * M, 1.5 * M, 0] },
  { engine: 'weir-fs', parallelism: 1, counts: [60 * M, 30 * M, 12 * M] },
  { engine: 'weir-rocksdb', parallelism: 1, counts: [40 * M, 10 * M, 3 * M] },
  { engine: 'flink2-heap', parallelism: 1, counts: [40 * M, 20 * M, 12 * M] },
  { engine: 'flink2-heap-chained', parallelism: 1, counts: [60 * M, 20 * M, 12 * M] },
  { engine: 'flink2-heap', parallelism: 2, counts: [40 * M, 20 * M, 12 * M] },
  { engine: 'flink2-rocksdb', parallelism: 1, counts: [4 * M, 2 * M, 3 * M] },
  { engine: 'flink1-heap', parallelism: 1, counts: [40 * M, 20 * M, 12 * M] },
  { engine: 'flink1-rocksdb', parallelism: 1, counts: [4 * M, 2 * M, 3 * M] },
  { engine: 'kstreams-log', parallelism: 1, counts: [10 * M, 4 * M, 2 * M] },
  { engine: 'kstreams-ttd', parallelism: 1, counts: [4 * M, 0, 0] },
  { engine: 'bytewax-recovery', parallelism: 1, counts: [4 * M, 0.4 * M, 0] },
  { engine: 'pathway-input', parallelism: 1, counts: [1 * M, 0.5 * M, 0] },
  { engine: 'weir-none', parallelism: 1, counts: [60 * M, 30 * M, 12 * M], extra: true },
  { engine: 'weir-mem', parallelism: 1, counts: [60 * M, 30 * M, 12 * M], extra: true },
  { engine: 'weir-fs-inc', parallelism: 1, counts: [60 * M, 30 * M, 12 * M], extra: true },
  { engine: 'weir-rocksdb-big', parallelism: 1, counts: [0, 0, 3 * M], extra: true },
  { engine: 'weir-fs', parallelism: 2, counts: [60 * M, 30 * M, 12 * M], extra: true },
  { engine: 'flink2-none', parallelism: 1, counts: [40 * M, 20 * M, 12 * M], extra: true },
  { engine: 'flink2-none-chained', parallelism: 1, counts: [60 * M, 20 * M, 12 * M], extra: true },
  { engine: 'flink2-heap-pojo', parallelism: 1, counts: [40 * M, 20 * M, 12 * M], extra: true },
  { engine: 'flink2-rocksdb-chained', parallelism: 1, counts: [4 * M, 2 * M, 3 * M], extra: true },
  { engine: 'flink1-heap-chained', parallelism: 1, counts: [60 * M, 20 * M, 12 * M], extra: true },
  { engine: 'kstreams-mem', parallelism: 1, counts: [10 * M, 4 * M, 2 * M], extra: true },
  { engine: 'kstreams-rocksdb', parallelism: 1, counts: [4 * M, 2 * M, 2 * M], extra: true },
  { engine: 'bytewax-none', parallelism: 1, counts: [4 * M, 2 * M, 2 * M], extra: true },
  { engine: 'pathway-none', parallelism: 1, counts: [1 * M, 0.5 * M, 0.5 * M], extra: true },
];

/** Restored with 1,000,000 keys. */
export const RESTORED: readonly string[] = ['weir-fs', 'weir-rocksdb', 'flink2-heap', 'flink2-rocksdb', 'flink1-heap'];

/** Those of the plan whose name begins with one of `beginnings`, and whose engine is there. */
export function planned(beginnings: readonly string[], extra: boolean): readonly Entry[] {
  return PLAN.filter(
    (entry) => (extra || entry.extra !== true) && isWanted(entry.engine, beginnings) && engineOf(entry.engine).isThere,
  );
}

export function isWanted(engine: string, beginnings: readonly string[]): boolean {
  return beginnings.length === 0 || beginnings.some((beginning) => engine.startsWith(beginning));
}
