import { inChild } from '../child.js';
import type { SteadyArgument, SteadyResult } from '../child/steady.js';
import { paired, withCheckpoints, type Figure } from '../figure.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';

const PAIRS = 5;
/** Uniform updates: about a third of what the job can do, so that both sides have the same load. */
const RATE = 500_000;
const MS = 12_000;
const ROCKSDB_PAIRS = 2;
const ROCKSDB_RATE = 100_000;

/** What checkpoints of 1,000,000 keys add to the longest delay of the event loop, and to memory. */
export async function steady(report: Report): Promise<void> {
  const stalls: number[] = [];
  const extraMemory: number[] = [];
  const windows: SteadyResult[] = [];
  const delays: { readonly with: number; readonly without: number }[] = [];
  const peaks: { readonly with: number; readonly without: number }[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const without = await measure(false);
    const with_ = await measure(true);
    windows.push(with_);
    delays.push({ with: round(with_.longestDelayMs), without: round(without.longestDelayMs) });
    peaks.push({ with: mebibytes(with_.peakRssBytes), without: mebibytes(without.peakRssBytes) });
    stalls.push(with_.longestDelayMs - without.longestDelayMs);
    extraMemory.push((with_.peakRssBytes - without.peakRssBytes) / with_.snapshotBytes);
  }
  const details = {
    records_per_second: round(median(windows.map(({ recordsPerSecond }) => recordsPerSecond))),
    snapshot_bytes: Math.round(median(windows.map(({ snapshotBytes }) => snapshotBytes))),
  };
  const figure = (values: readonly number[], rest: Omit<Figure, 'value'>): Figure =>
    withCheckpoints(paired(values, rest), windows);
  report.add(
    'stall_ms_1m_keys',
    figure(stalls, { unit: 'ms', bar: { atMost: 10 }, details: { ...details, longest_delay_ms: delays } }),
  );
  report.add(
    'snapshot_extra_memory_1m',
    figure(extraMemory, {
      unit: 'of the snapshot',
      bar: { atMost: 0.5 },
      details: { ...details, peak_rss_mib: peaks },
    }),
  );
}

/** The same on RocksDB with incremental checkpoints, at a rate that it keeps up with. */
export async function rocksdbSteady(report: Report): Promise<void> {
  const stalls: number[] = [];
  const windows: SteadyResult[] = [];
  const delays: { readonly with: number; readonly without: number }[] = [];
  for (let pair = 0; pair < ROCKSDB_PAIRS; pair++) {
    const options = { rate: ROCKSDB_RATE, state: { rocksdb: {} } };
    const without = await measure(false, options);
    const with_ = await measure(true, options);
    windows.push(with_);
    delays.push({ with: round(with_.longestDelayMs), without: round(without.longestDelayMs) });
    stalls.push(with_.longestDelayMs - without.longestDelayMs);
  }
  const details = {
    records_per_second: round(median(windows.map(({ recordsPerSecond }) => recordsPerSecond))),
    longest_delay_ms: delays,
  };
  report.add(
    'rocksdb_stall_ms_1m_keys',
    withCheckpoints(paired(stalls, { unit: 'ms', bar: { atMost: 20 }, details }), windows),
  );
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function measure(
  checkpoints: boolean,
  options: Pick<SteadyArgument, 'rate' | 'state'> = { rate: RATE },
): Promise<SteadyResult> {
  return inChild<SteadyResult>('steady', {
    ...options,
    keys: 1_000_000,
    checkpoints,
    ms: MS,
  } satisfies SteadyArgument);
}
