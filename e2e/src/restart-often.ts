import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rocksBackend } from '@weir/backend-rocksdb';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT, staticSplits, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, mapState, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';

// A job on RocksDB that fails after each checkpoint, in a process with --expose-gc; prints the most it held in some restarts, and the least after many more.

const [warm = 0, measured = 0] = process.argv.slice(2).map(Number);
/** What a process holds goes up and down with what runs beside it: one look says little. */
const LOOKS = 8;
const KEYS = 2000;

interface Held {
  readonly megabytes: number;
  readonly files: number;
}

const dir = mkdtempSync(join(tmpdir(), 'weir-restarts-'));
const env = createEnvironment({
  logger: SILENT,
  parallelism: 2,
  plugins: [
    checkpointCoordinator(),
    rocksBackend({
      checkpointsDir: join(dir, 'state'),
      dir: join(dir, 'rocksdb'),
      cacheSize: '64 kb',
      inlineThreshold: 0,
    }),
    fixedDelayRestart({ attempts: Number.POSITIVE_INFINITY, delay: 0 }),
  ],
});
env.enableCheckpointing('20ms', { incremental: true, tolerableFailures: Number.POSITIVE_INFINITY });

let hasToFail = false;
let restarts = 0;
env
  .from(numbers(), { uid: 'numbers' })
  .pipe(
    keyBy((n) => n % KEYS),
    keyedProcess({
      uid: 'counts',
      state: { count: valueState({ initial: () => 0 }), tens: mapState<number, string>() },
      onRecord(n, { state: { count, tens } }, emit: Emit<number>) {
        if (hasToFail) {
          hasToFail = false;
          throw new Error('again');
        }
        count.update(count.value() + 1);
        tens.set(count.value() % 10, 'x'.repeat(50));
        emit(n);
      },
    }),
  )
  .to({ grade: 'idempotent', open: () => ({ write: () => undefined, close: () => undefined }) }, { uid: 'out' });

const job = await env.start('restarts');
let reached = (): void => undefined;
let wanted = 0;
job.events$.subscribe((event) => {
  if (event.kind === 'checkpoint-completed') hasToFail = true;
  if (event.kind === 'restart' && ++restarts >= wanted) reached();
});
const heldAfter = async (count: number): Promise<Held> => {
  await new Promise<void>((resolve) => {
    wanted = count;
    reached = resolve;
  });
  // Between two attempts nothing is open, but the restart begins in the same turn: what an attempt holds is in every figure.
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { megabytes: process.memoryUsage.rss() / 1e6, files: readdirSync('/proc/self/fd').length };
};
const looksFrom = async (count: number, pick: (...held: readonly number[]) => number): Promise<Held> => {
  const looks: Held[] = [];
  for (let i = 0; i < LOOKS; i++) looks.push(await heldAfter(count + i));
  return { megabytes: pick(...looks.map((held) => held.megabytes)), files: pick(...looks.map((held) => held.files)) };
};
const before = await looksFrom(warm, Math.max);
const end = await looksFrom(warm + LOOKS + measured, Math.min);
await job.cancel();
rmSync(dir, { recursive: true, force: true });
console.log(JSON.stringify({ before, end, restarts }));

function numbers(): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'a' }, { id: 'b' }]),
    open: (_split, start = 0) => {
      let position = start;
      return Promise.resolve({
        poll(max: number) {
          const batch = Array.from({ length: max }, (_, i) => position + i);
          position += max;
          return batch;
        },
        position: () => position,
        close: () => Promise.resolve(),
      });
    },
  };
}
