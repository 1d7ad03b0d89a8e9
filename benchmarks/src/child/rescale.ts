import { join } from 'node:path';
import { answer, argument } from '../child.js';
import { startJob, type BenchmarkJobOptions } from '../job.js';
import { distinct } from '../workload.js';

/** Fills a job of `from` subtasks with `keys` keys; then how long it takes to stop it with a savepoint and have it run again with `to`. */
export interface RescaleArgument {
  readonly dir: string;
  readonly keys: number;
  readonly from: number;
  readonly to: number;
}
export interface RescaleResult {
  readonly rescaleMs: number;
  readonly stopMs: number;
  readonly restoredCheckpoint: number | undefined;
  readonly stateBytes: number;
}

const { dir, keys, from, to } = argument<RescaleArgument>();
const options: BenchmarkJobOptions = { records: distinct(keys), checkpointsDir: dir, checkpointEveryMs: 3_600_000 };
const before = await startJob({ ...options, parallelism: from });
while (before.counts.read < keys) await new Promise((resolve) => setTimeout(resolve, 1));

const start = performance.now();
const { stateBytes, pointer } = await before.handle.stopWithSavepoint({ dir: join(dir, 'savepoints') });
await before.handle.done;
const stopMs = performance.now() - start;
const after = await startJob({ ...options, parallelism: to, restoreFrom: pointer });
const restoredCheckpoint = await new Promise<number | undefined>((resolve) => {
  after.handle.events$.subscribe((event) => {
    if (event.kind === 'attempt-started') resolve(event.restoredCheckpoint);
  });
});
const rescaleMs = performance.now() - start;
await after.handle[Symbol.asyncDispose]();
answer({ rescaleMs, stopMs, restoredCheckpoint, stateBytes } satisfies RescaleResult);
