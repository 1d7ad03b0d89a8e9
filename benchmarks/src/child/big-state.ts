import { setTimeout as sleep } from 'node:timers/promises';
import { rocksBackend } from '@weir/backend-rocksdb';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT, staticSplits, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, valueState, type Emit } from '@weir/core/operators';
import { answer, argument } from '../child.js';

/** A job whose state is larger than its memory. `fill`: every key once, then keys at random for a while. `restore`: until it runs again. */
export interface BigStateArgument {
  readonly dir: string;
  readonly keys: number;
  readonly cacheBytes: number;
  readonly phase: 'fill' | 'restore';
  /** Of keys at random. */
  readonly ms: number;
}
export interface BigStateResult {
  readonly fillRecordsPerSecond: number;
  readonly recordsPerSecond: number;
  readonly checkpointMs: readonly number[];
  readonly checkpointBytes: readonly number[];
  readonly stateBytes: number;
  readonly peakRssBytes: number;
  readonly restoreMs: number;
  readonly restored: boolean;
}

const { dir, keys, cacheBytes, phase, ms } = argument<BigStateArgument>();
/** With its key a row of about 100 bytes. */
const FILLER = 'x'.repeat(72);

const counts = { read: 0 };
const env = createEnvironment({
  logger: SILENT,
  plugins: [checkpointCoordinator(), rocksBackend({ checkpointsDir: dir, cacheSize: cacheBytes })],
});
env.enableCheckpointing('10 s', { incremental: true, externalized: 'retain-on-cancellation' });
env
  .from(numbers(), { uid: 'numbers' })
  .pipe(
    keyBy((n) => `key-${String(n).padStart(9, '0')}`),
    keyedProcess({
      uid: 'texts',
      state: { text: valueState({ initial: () => '' }) },
      onRecord(n, { state: { text } }, emit: Emit<number>) {
        const times = text.value() === '' ? 0 : Number(text.value().slice(0, 8));
        text.update(String(times + 1).padStart(8, '0') + FILLER);
        emit(n);
      },
    }),
  )
  .to({ grade: 'idempotent', open: () => ({ write: () => undefined, close: () => undefined }) }, { uid: 'out' });

const begun = performance.now();
const job = await env.start('big-state');
const done: { readonly durationMs: number; readonly writtenBytes: number; readonly stateBytes: number }[] = [];
let restored = false;
let restoreMs = 0;
let failure: unknown;
job.events$.subscribe((event) => {
  if (event.kind === 'checkpoint-completed') done.push(event);
  if (event.kind === 'attempt-started') {
    restored = event.restoredCheckpoint !== undefined;
    restoreMs = performance.now() - begun;
  }
});
job.done.catch((error: unknown) => {
  failure = error;
});

let peakRssBytes = 0;
const until = async (isReached: () => boolean): Promise<void> => {
  while (!isReached()) {
    if (failure !== undefined) throw failure as Error;
    peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
    await sleep(20);
  }
};
let fillRecordsPerSecond = 0;
let recordsPerSecond = 0;
if (phase === 'fill') {
  await until(() => counts.read >= keys);
  fillRecordsPerSecond = counts.read / ((performance.now() - begun) / 1000);
  const [from, start] = [counts.read, performance.now()];
  await until(() => performance.now() - start >= ms);
  recordsPerSecond = (counts.read - from) / ((performance.now() - start) / 1000);
  await job.triggerCheckpoint();
} else await until(() => restoreMs > 0 && counts.read > 0);
await job[Symbol.asyncDispose]();
answer({
  fillRecordsPerSecond,
  recordsPerSecond,
  checkpointMs: done.map(({ durationMs }) => durationMs),
  checkpointBytes: done.map(({ writtenBytes }) => writtenBytes),
  stateBytes: done.at(-1)?.stateBytes ?? 0,
  peakRssBytes,
  restoreMs,
  restored,
} satisfies BigStateResult);

/** Each number below `keys` once, then any of them. */
function numbers(): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    open: (_split, start = 0) => {
      let position = start;
      return Promise.resolve({
        poll(max: number) {
          const batch = Array.from({ length: max }, (_, i) => numberAt(position + i));
          position += max;
          counts.read += max;
          return batch;
        },
        position: () => position,
        close: () => Promise.resolve(),
      });
    },
  };
}

function numberAt(position: number): number {
  return position < keys ? position : (Math.imul(position, 0x9e3779b1) >>> 0) % keys;
}
