import { answer, argument } from '../child.js';
import { startJob, type BenchmarkJobOptions } from '../job.js';
import { distinct } from '../workload.js';

/** Fills a job of `from` subtasks with `keys` keys; then how long it takes to stop it with a checkpoint and have it run again with `to`. */
export interface RescaleArgument {
  readonly dir: string;
  readonly keys: number;
  readonly from: number;
  readonly to: number;
}
export interface RescaleResult {
  readonly rescaleMs: number;
  readonly checkpointMs: number;
  readonly restoredCheckpoint: number | undefined;
  readonly stateBytes: number;
}

const { dir, keys, from, to } = argument<RescaleArgument>();
const options: BenchmarkJobOptions = { records: distinct(keys), checkpointsDir: dir, checkpointEveryMs: 3_600_000 };
const before = await startJob({ ...options, parallelism: from });
while (before.counts.read < keys) await new Promise((resolve) => setTimeout(resolve, 1));

const start = performance.now();
const { stateBytes, durationMs } = await before.handle.triggerCheckpoint();
// Ends as a crash would: the checkpoint stays.
await before.handle[Symbol.asyncDispose]();
const after = await startJob({ ...options, parallelism: to });
const restoredCheckpoint = await new Promise<number | undefined>((resolve) => {
  after.handle.events$.subscribe((event) => {
    if (event.kind === 'attempt-started') resolve(event.restoredCheckpoint);
  });
});
const rescaleMs = performance.now() - start;
await after.handle[Symbol.asyncDispose]();
answer({ rescaleMs, checkpointMs: durationMs, restoredCheckpoint, stateBytes } satisfies RescaleResult);
