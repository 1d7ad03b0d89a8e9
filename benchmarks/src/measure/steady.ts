import { inChild } from '../child.js';
import type { SteadyArgument, SteadyResult } from '../child/steady.js';
import { paired, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';

const PAIRS = 5;
/** Uniform updates: about a third of what the job can do, so that both sides have the same load. */
const RATE = 500_000;
const MS = 12_000;
const ROCKSDB_PAIRS = 2;
/** Half of what it can do with keys that are mostly not in its cache. */
const ROCKSDB_RATE = 50_000;

/** What checkpoints of 1,000,000 keys add to the longest delay of the event loop, and to memory. */
export async function steady(report: Report): Promise<void> {
  const { pairs, windows, details, stalls } = await withAndWithout(PAIRS, { rate: RATE });
  report.add(
    'stall_ms_1m_keys',
    withCheckpoints(paired(stalls, { unit: 'ms', bar: { atMost: 10 }, details }), windows),
  );
  const extraMemory = pairs.map(
    (pair) => (pair.with.peakRssBytes - pair.without.peakRssBytes) / pair.with.snapshotBytes,
  );
  const peaks = pairs.map((pair) => ({
    with: mebibytes(pair.with.peakRssBytes),
    without: mebibytes(pair.without.peakRssBytes),
  }));
  report.add(
    'snapshot_extra_memory_1m',
    withCheckpoints(
      paired(extraMemory, {
        unit: 'of the snapshot',
        bar: { atMost: 0.5 },
        details: { ...details, peak_rss_mib: peaks },
      }),
      windows,
    ),
  );
}

/** The same on RocksDB with incremental checkpoints. */
export async function rocksdbSteady(report: Report): Promise<void> {
  const { windows, details, stalls } = await withAndWithout(ROCKSDB_PAIRS, {
    rate: ROCKSDB_RATE,
    state: { rocksdb: {} },
  });
  report.add(
    'rocksdb_stall_ms_1m_keys',
    withCheckpoints(paired(stalls, { unit: 'ms', bar: { atMost: 20 }, details }), windows),
  );
}

interface Pair {
  readonly with: SteadyResult;
  readonly without: SteadyResult;
}

/** Runs of the same job in turn, and what checkpoints add to the longest delay in each pair. */
async function withAndWithout(
  count: number,
  options: Pick<SteadyArgument, 'rate' | 'state'>,
): Promise<{
  readonly pairs: readonly Pair[];
  readonly windows: readonly SteadyResult[];
  readonly stalls: readonly number[];
  readonly details: Readonly<Record<string, unknown>>;
}> {
  const pairs: Pair[] = [];
  for (let pair = 0; pair < count; pair++) {
    const without = await measure(false, options);
    pairs.push({ without, with: await measure(true, options) });
  }
  const windows = pairs.map((pair) => pair.with);
  const details = {
    records_per_second: round(median(windows.map(({ recordsPerSecond }) => recordsPerSecond))),
    snapshot_bytes: Math.round(median(windows.map(({ snapshotBytes }) => snapshotBytes))),
    longest_delay_ms: pairs.map((pair) => ({
      with: round(pair.with.longestDelayMs),
      without: round(pair.without.longestDelayMs),
    })),
  };
  const stalls = pairs.map((pair) => pair.with.longestDelayMs - pair.without.longestDelayMs);
  return { pairs, windows, details, stalls };
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function measure(checkpoints: boolean, options: Pick<SteadyArgument, 'rate' | 'state'>): Promise<SteadyResult> {
  return inChild<SteadyResult>('steady', {
    ...options,
    keys: 1_000_000,
    checkpoints,
    ms: MS,
  } satisfies SteadyArgument);
}
