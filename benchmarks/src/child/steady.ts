import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { answer, argument } from '../child.js';
import { startJob, type StateChoice } from '../job.js';
import { workload } from '../workload.js';

/** A job at a fixed rate in its steady state: what its event loop and memory do, with or without checkpoints. */
export interface SteadyArgument {
  readonly keys: number;
  readonly rate: number;
  readonly checkpoints: boolean;
  readonly ms: number;
  readonly state?: StateChoice | undefined;
}
export interface SteadyResult {
  readonly longestDelayMs: number;
  readonly peakRssBytes: number;
  readonly checkpointsCompleted: number;
  readonly bytesWritten: number;
  readonly snapshotBytes: number;
  readonly recordsPerSecond: number;
}

const { keys, rate, checkpoints, ms, state } = argument<SteadyArgument>();
const records = workload('string', keys);

const job = await startJob({
  records,
  rate,
  state,
  checkpointEveryMs: checkpoints ? 1000 : undefined,
  checkpointing: { incremental: state !== undefined },
});
// Every record once, so that nearly all keys exist, then a little to settle.
while (job.counts.read < records.length * 2) await sleep(50);
await sleep(1000);

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const before = job.checkpoints.length;
const readBefore = job.counts.read;
const start = performance.now();
let peakRssBytes = 0;
while (performance.now() - start < ms) {
  peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
  await sleep(5);
}
delay.disable();
const completed = job.checkpoints.slice(before);
const result: SteadyResult = {
  longestDelayMs: delay.max / 1e6,
  peakRssBytes,
  checkpointsCompleted: completed.length,
  bytesWritten: completed.reduce((sum, { stateBytes }) => sum + stateBytes, 0),
  snapshotBytes: completed.at(-1)?.stateBytes ?? 0,
  recordsPerSecond: (job.counts.read - readBefore) / ((performance.now() - start) / 1000),
};
await job[Symbol.asyncDispose]();
answer(result);
