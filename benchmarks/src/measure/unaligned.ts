import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckpointOptions } from '@weir/core';
import { lossOf, ratioOf, thereAndBack, type Ratio } from '../abba.js';
import { compared, paired, withCheckpoints } from '../figure.js';
import { startJob } from '../job.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';
import { measureInto, type WindowResult } from '../window.js';
import { workload, type Input, type Total } from '../workload.js';

const PAIRS = 5;
/** Checkpoints whose durations make one median. */
const CHECKPOINTS = 15;
const EVERY_MS = 200;
/** How many times slower than the source the sink is. */
const SLOWNESS = 100;

const UNALIGNED: CheckpointOptions = { unaligned: true };
const ALIGNED: CheckpointOptions = { unaligned: false };

/**
 * How long checkpoints take with a sink 100 times slower than the source, over how long they take without backpressure: `unaligned`, and
 * `aligned` for comparison. Then what unaligned checkpoints cost where there is no backpressure: 1 - throughput unaligned / aligned.
 */
export async function unaligned(report: Report): Promise<void> {
  const records = workload('number', 10_000);
  const figures = { unaligned: UNALIGNED, aligned: ALIGNED };
  for (const [name, options] of Object.entries(figures)) {
    const ratios: number[] = [];
    const durations: { free: number; pressed: number }[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const free = await durationsOf(records, options, undefined);
      const pressed = await durationsOf(records, options, free.recordsPerSecond / SLOWNESS);
      ratios.push(pressed.median / free.median);
      durations.push({ free: free.median, pressed: pressed.median });
    }
    const bar = name === 'unaligned' ? { atMost: 2 } : undefined;
    const details = {
      ms_without: round(median(durations.map(({ free }) => free))),
      ms_under_back_pressure: round(median(durations.map(({ pressed }) => pressed))),
    };
    report.add(`${name}_duration_under_backpressure`, paired(ratios, { unit: 'ratio', bar, details }));
  }
  await throughputCost(report, workload('string', 100_000));
}

async function throughputCost(report: Report, records: readonly Input[]): Promise<void> {
  const windows: WindowResult[] = [];
  const costs: Ratio[] = [];
  for (let round = 0; round < PAIRS; round++) {
    const { withUnaligned, withAligned } = await thereAndBack(round, {
      withUnaligned: () => measureInto(windows, { records, checkpointing: UNALIGNED }),
      withAligned: () => measureInto(windows, { records, checkpointing: ALIGNED }),
    });
    costs.push(lossOf(ratioOf(withUnaligned, withAligned)));
  }
  const figure = compared(costs, { unit: 'share', bar: { atMost: 0.05 } });
  report.add('unaligned_throughput_cost', withCheckpoints(figure, windows));
}

/** The median duration of checkpoints, with a sink that takes `rate` records per second, or as many as come. */
async function durationsOf(
  records: readonly Input[],
  checkpointing: CheckpointOptions,
  rate: number | undefined,
): Promise<{ readonly median: number; readonly recordsPerSecond: number }> {
  const onWrite = rate === undefined ? undefined : takingUpTo(rate);
  await using job = await startJob({ records, checkpointing, checkpointEveryMs: EVERY_MS, onWrite });
  // The first ones find caches cold and buffers empty.
  while (job.checkpoints.length < 3) await sleep(20);
  const start = performance.now();
  const before = job.counts.read;
  const done = job.checkpoints.length;
  while (job.checkpoints.length < done + CHECKPOINTS) await sleep(20);
  return {
    median: median(job.checkpoints.slice(done).map(({ durationMs }) => durationMs)),
    recordsPerSecond: ((job.counts.read - before) / (performance.now() - start)) * 1000,
  };
}

/** Waits after each write until it is no longer ahead of `rate`. */
function takingUpTo(rate: number): (batch: readonly Total[]) => Promise<void> | undefined {
  let free = performance.now();
  return (batch) => {
    const now = performance.now();
    free = Math.max(free, now) + (batch.length / rate) * 1000;
    const ms = free - now;
    return ms < 1 ? undefined : sleep(ms);
  };
}
