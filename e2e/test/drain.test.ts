import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsBackend } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type JobHandle } from '@weir/core';
import { SILENT, sleep, staticSplits, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, valueState, withTimestamps, type Emit } from '@weir/core/operators';
import { transactionalMemorySink, type TransactionalMemorySink } from '@weir/testkit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

// Checkpoints go to the real disk, and the machine may have more to do.
vi.setConfig({ testTimeout: 30_000 });

const KEYS = 3;
/** Each key tells at that event time how many records it has seen by then: long after the last record. */
const END = 1_000_000;

let dir: string;
let sink: TransactionalMemorySink<string>;
/** How far the source may read; it ends at `last`. */
let limit: number;
let last: number;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'weir-'));
  sink = transactionalMemorySink();
  limit = 30;
  last = 60;
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const source: Source<number, 'replayable', { readonly id: string }, number> = {
  grade: 'replayable',
  bounded: true,
  enumerator: () => staticSplits([{ id: 'numbers' }]),
  async open(_split, start = 0, { clock, signal }) {
    let next = start;
    return {
      async poll() {
        if (next === last) return 'end';
        await sleep(clock, 1, signal).catch(() => undefined);
        return next < limit ? [next++] : [];
      },
      position: () => next,
      close: async () => undefined,
    };
  },
};

async function start(): Promise<JobHandle> {
  const storage = fsBackend({ checkpointsDir: join(dir, 'state'), savepointsDir: join(dir, 'savepoints') });
  const env = createEnvironment({ logger: SILENT, plugins: [checkpointCoordinator(), storage] });
  env.enableCheckpointing('10ms');
  env
    .from(source, { uid: 'numbers' })
    .pipe(
      withTimestamps({ timestampOf: (n: number) => n }),
      keyBy((n) => n % KEYS),
      keyedProcess({
        uid: 'count',
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(n, { state: { count }, timers }, emit: Emit<string>) {
          count.update(count.value() + 1);
          timers.registerEventTime(END);
          emit(String(n));
        },
        onTimer(_time, { key, state: { count } }, emit) {
          emit(`key ${String(key)}: ${String(count.value())}`);
        },
      }),
    )
    .to(sink, { uid: 'out', guarantee: 'exactly-once' });
  const job = await env.start('counts');
  await expect.poll(() => sink.visible.length, { timeout: 10_000, interval: 5 }).toBeGreaterThanOrEqual(limit);
  return job;
}

const numbersTo = (end: number): readonly string[] => Array.from({ length: end }, (_, n) => String(n));
const countsOf = (each: number): readonly string[] => [0, 1, 2].map((key) => `key ${String(key)}: ${String(each)}`);

test('a job that is drained tells what waits for the end of time, in front of its savepoint', async () => {
  const job = await start();
  await job.stopWithSavepoint({ drain: true });
  expect(await job.done).toBe('stopped');
  expect([...sink.visible].sort()).toEqual([...numbersTo(30), ...countsOf(10)].sort());
});

test('a job that is suspended keeps it in its savepoint, for whoever goes on from there', async () => {
  const job = await start();
  await job.stopWithSavepoint();
  expect([...sink.visible].sort()).toEqual([...numbersTo(30)].sort());
  limit = last;
  const next = await start();
  expect(await next.done).toBe('finished');
  expect([...sink.visible].sort()).toEqual([...numbersTo(60), ...countsOf(20)].sort());
});
