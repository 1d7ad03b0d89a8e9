import { createMemoryStateBackend, createMemoryStorage } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import {
  CheckpointStorageRole,
  createEnvironment,
  StateBackendRole,
  type CheckpointOptions,
  type JobEvent,
  type JobHandle,
  type Plugin,
} from '@weir/core';
import { SILENT, type CheckpointStorage } from '@weir/core/contracts';
import { keyBy, keyedProcess, map, union, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { seededRandom, transactionalMemorySink, VirtualClock, type TransactionalMemorySink } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { leaving, ofKind, paced } from './support/paced-job.js';

// Reports BA-03 and SO-11: a job with one input that ends and one that does not goes on taking checkpoints, and never reads the first one again.

const FINITE = 10;

interface Line {
  readonly input: 'finite' | 'endless';
  readonly n: number;
  readonly count: number;
}

interface Mixed {
  readonly clock: VirtualClock;
  readonly job: JobHandle;
  readonly sink: TransactionalMemorySink<Line>;
  told<K extends JobEvent['kind']>(kind: K): Extract<JobEvent, { kind: K }>[];
  /** How often a reader of the finite input was opened. */
  readonly opened: () => number;
  crash(): void;
  leave(): Promise<void>;
}

interface MixedOptions extends CheckpointOptions {
  readonly endlessUntil?: number;
  readonly storage?: CheckpointStorage;
  readonly sink?: TransactionalMemorySink<Line>;
}

async function startMixed(options: MixedOptions = {}): Promise<Mixed> {
  const {
    endlessUntil = Infinity,
    storage = createMemoryStorage(),
    sink = transactionalMemorySink<Line>(),
    ...checkpointing
  } = options;
  const clock = new VirtualClock();
  let [opened, isCrashing] = [0, false];
  const services: Plugin = {
    name: 'services',
    install(binder) {
      binder.provide(StateBackendRole, 'memory', () => createMemoryStateBackend());
      binder.provide(CheckpointStorageRole, 'kept', () => storage);
    },
  };
  const env = createEnvironment({
    plugins: [checkpointCoordinator(), services, fixedDelayRestart({ attempts: 10, delay: 1 })],
    clock,
    random: seededRandom(1),
    logger: SILENT,
  });
  env.enableCheckpointing(10, checkpointing);
  const finite = env.from(
    paced(FINITE, 3, () => opened++),
    { uid: 'finite' },
  );
  const endless = env.from(paced(endlessUntil, 4), { uid: 'endless' });
  finite
    .pipe(
      map((n) => ({ input: 'finite' as const, n })),
      union(
        endless.pipe(
          map((n) => {
            if (!isCrashing) return { input: 'endless' as const, n };
            isCrashing = false;
            throw new Error('crash');
          }),
        ),
      ),
      keyBy(({ input }) => input),
      keyedProcess({
        uid: 'count',
        state: { count: valueState({ initial: () => 0 }) },
        onRecord({ input, n }, { state: { count } }, emit: Emit<Line>) {
          count.update(count.value() + 1);
          emit({ input, n, count: count.value() });
        },
      }),
    )
    .to(sink, { uid: 'out' });
  const process = new AbortController();
  const job = await env.start('mixed', { signal: process.signal });
  const events: JobEvent[] = [];
  job.events$.subscribe((event) => events.push(event));
  job.done.catch(() => undefined);
  return {
    clock,
    job,
    sink,
    opened: () => opened,
    told: (kind) => ofKind(events, kind),
    crash() {
      isCrashing = true;
    },
    leave: () => leaving(process, job, clock),
  };
}

const of = (sink: TransactionalMemorySink<Line>, input: Line['input']): readonly (readonly [number, number])[] =>
  sink.visible
    .filter((line) => line.input === input)
    .map(({ n, count }) => [n, count] as const)
    .toSorted(([a], [b]) => a - b);
const numbered = (count: number): readonly (readonly [number, number])[] =>
  Array.from({ length: count }, (_, n) => [n, n + 1] as const);

const MODES: readonly (readonly [string, CheckpointOptions])[] = [
  ['aligned', {}],
  ['several at a time', { maxConcurrent: 3 }],
  ['unaligned', { unaligned: true }],
  ['aligned with a timeout', { unaligned: true, alignedTimeout: 5 }],
];

describe.each(MODES)('an input that ends beside one that does not (%s)', (_mode, options) => {
  test('BA-03, SO-11: leaves, checkpoints go on without it, and no restart reads it again', async () => {
    const { clock, crash, told, opened, sink, leave } = await startMixed(options);
    await clock.until(() => told('subtask-finished').length === 1);
    expect(told('subtask-finished')[0]?.subtask).toEqual({ stage: 'finite', index: 0 });
    for (const restarts of [1, 2]) {
      const before = told('checkpoint-completed').length;
      await clock.until(() => told('checkpoint-completed').length >= before + 3);
      crash();
      await clock.until(() => told('restored').length === restarts);
    }
    const before = told('checkpoint-completed').length;
    await clock.until(() => told('committed').length >= before + 3);
    await leave();
    expect(opened()).toBe(1);
    expect(of(sink, 'finite')).toEqual(numbered(FINITE));
    const endless = of(sink, 'endless');
    expect(endless).toEqual(numbered(endless.length));
    expect(endless.length).toBeGreaterThan(20);
  });

  test('may end before, between and after checkpoints, and a crash at any time repeats and loses nothing', async () => {
    for (let at = 2; at <= 80; at += 6) {
      const mixed = await startMixed({ ...options, endlessUntil: 30 });
      mixed.clock.timer(at, mixed.crash);
      let end: unknown;
      mixed.job.done.then(
        (value) => (end = value),
        (error: unknown) => (end = error),
      );
      await mixed.clock.until(() => end !== undefined);
      expect([at, end]).toEqual([at, 'finished']);
      expect(of(mixed.sink, 'finite')).toEqual(numbered(FINITE));
      expect(of(mixed.sink, 'endless')).toEqual(numbered(30));
    }
  }, 60_000);

  test('is not read by the next process either', async () => {
    const storage = createMemoryStorage();
    const first = await startMixed({ ...options, storage });
    await first.clock.until(() => first.told('subtask-finished').length === 1);
    await first.leave();
    const second = await startMixed({ ...options, storage, sink: first.sink });
    await second.clock.until(() => second.told('committed').length > 3);
    await second.leave();
    expect([first.opened(), second.opened()]).toEqual([1, 0]);
    expect(of(first.sink, 'finite')).toEqual(numbered(FINITE));
  });
});

test('without checkpoints after the first end, only the final one is taken then', async () => {
  const { clock, job, told, sink } = await startMixed({ checkpointsAfterFinish: false, endlessUntil: 60 });
  await clock.until(() => told('subtask-finished').length === 1);
  const completed = told('checkpoint-completed').length;
  await clock.advance(100);
  expect(told('checkpoint-completed')).toHaveLength(completed);
  await expect(job.triggerCheckpoint()).rejects.toMatchObject({ code: 'CHECKPOINT_FAILED' });
  let isDone = false;
  void job.done.finally(() => (isDone = true));
  await clock.until(() => isDone);
  expect(told('checkpoint-completed').at(-1)?.trigger).toBe('final');
  expect(of(sink, 'endless')).toEqual(numbered(60));
});
