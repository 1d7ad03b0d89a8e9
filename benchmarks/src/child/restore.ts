import { answer, argument } from '../child.js';
import { startJob } from '../job.js';
import { distinct, workload } from '../workload.js';

/** `fill` leaves a checkpoint of all keys behind; `restore` says how long it takes until the job runs again, and until its first output. */
export interface RestoreArgument {
  readonly dir: string;
  readonly keys: number;
  readonly phase: 'fill' | 'restore';
  readonly startedAt: number;
  /** Where copies of what checkpoints hold are kept and read from; undefined: there are none. */
  readonly localDirs?: string | undefined;
}
export interface RestoreResult {
  readonly restoreMs: number;
  readonly firstOutputMs: number;
  readonly restoredCheckpoint: number | undefined;
  readonly stateBytes: number;
  /** Of the state that was restored, what came from local copies. */
  readonly localBytes: number;
}

const { dir, keys, phase, startedAt, localDirs } = argument<RestoreArgument>();
const records = phase === 'fill' ? distinct(keys) : workload('string', keys);
let firstOutput: number | undefined;
const begun = Date.now();
const job = await startJob({
  records,
  checkpointsDir: dir,
  checkpointEveryMs: 3_600_000,
  checkpointing: { localRecovery: localDirs !== undefined, localDirs },
  onWrite: () => {
    firstOutput ??= Date.now();
  },
});
let restoredCheckpoint: number | undefined;
let runningAt = 0;
let localBytes = 0;
job.handle.events$.subscribe((event) => {
  if (event.kind === 'state-read') ({ localBytes } = event);
  if (event.kind === 'attempt-started') {
    restoredCheckpoint = event.restoredCheckpoint;
    runningAt = event.at;
  }
});
while (firstOutput === undefined || (phase === 'fill' && job.counts.read < keys))
  await new Promise((resolve) => setTimeout(resolve, 1));
const stateBytes = phase === 'fill' ? (await job.handle.triggerCheckpoint()).stateBytes : 0;
// Ends as a crash would: the checkpoint stays.
await job.handle[Symbol.asyncDispose]();
answer({
  restoreMs: runningAt - begun,
  firstOutputMs: firstOutput - startedAt,
  restoredCheckpoint,
  stateBytes,
  localBytes,
} satisfies RestoreResult);
