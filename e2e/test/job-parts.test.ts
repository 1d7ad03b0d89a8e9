import { createFsStorage } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, createEnvironment, type Environment, type JobEvent, type Plugin } from '@weir/core';
import { nextTurn, SILENT, systemClock } from '@weir/core/contracts';
import { tap } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import {
  assertExactlyOnce,
  CrashFileSystem,
  failOnce,
  faultyStorage,
  gate,
  numbers,
  transactionalMemorySink,
  type FaultyStorage,
  type StorageFault,
} from '@weir/testkit';
import { expect, test } from 'vitest';

const COUNT = 1000;
const ALL = Array.from({ length: COUNT }, (_, n) => n);

interface Bench {
  readonly env: Environment;
  readonly storage: FaultyStorage;
}

/** An environment whose checkpoints lie on a disk in memory with the given faults. */
function benchWith(...faults: readonly StorageFault[]): Bench {
  const files = createFsStorage({
    checkpointsDir: '/checkpoints',
    fileSystem: new CrashFileSystem(),
    inlineThreshold: 0,
  });
  const storage = faultyStorage(files, faults);
  const plugin: Plugin = {
    name: 'faulty',
    install(binder) {
      binder.provide(CheckpointStorageRole, 'faulty', () => storage);
    },
  };
  const plugins = [checkpointCoordinator(), plugin, fixedDelayRestart({ attempts: 3, delay: 0 })];
  const env = createEnvironment({ plugins, logger: SILENT });
  env.enableCheckpointing(undefined, { tolerableFailures: Infinity });
  return { env, storage };
}

/** Runs numbers into a transactional sink; a checkpoint is asked for at each of `checkpoints`, and a few records after one is complete the job fails. */
async function run({ env }: Bench, ...checkpoints: readonly number[]) {
  const sink = transactionalMemorySink<number>();
  const events: JobEvent[] = [];
  const asked = new Set(checkpoints);
  let behind = 0;
  const has = (kind: JobEvent['kind']): boolean => events.some((event) => event.kind === kind);
  env
    .from(numbers(COUNT, { perPoll: 1, turnsBetween: 1 }), { uid: 'numbers' })
    .pipe(
      tap((n) => {
        if (asked.delete(n)) void job.triggerCheckpoint().catch(() => undefined);
      }),
      failOnce(() => has('checkpoint-completed') && ++behind > 3),
    )
    .to(sink, { uid: 'out', guarantee: 'exactly-once' });
  const job = await env.start('parts');
  job.events$.subscribe((event) => events.push(event));
  const failure: unknown = await job.done.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { sink, events, has, failure };
}

test('a job that fails after a checkpoint commits every number once', async () => {
  const { sink, has, failure } = await run(benchWith(), 50);
  expect(failure).toBeUndefined();
  expect(has('restored')).toBe(true);
  assertExactlyOnce(sink.visible, ALL);
  expect(new Set(sink.log.map(({ kind }) => kind))).toEqual(new Set(['begin', 'prepare', 'commit', 'abandon']));
});

test('a full disk costs a checkpoint, and no number', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const bench = benchWith({ on: 'write', nth: 1, does: { kind: 'throw', error: full } });
  const { sink, events, failure } = await run(bench, 50, 300);
  expect(failure).toBeUndefined();
  expect(events.find(({ kind }) => kind === 'checkpoint-aborted')).toMatchObject({ reason: 'IO_EXCEPTION' });
  expect(bench.storage.calls.write).toBeGreaterThan(1);
  assertExactlyOnce(sink.visible, ALL);
});

test('a slow disk makes a checkpoint late, and nothing else', async () => {
  const bench = benchWith({ on: 'publish', nth: 1, does: { kind: 'delay', ms: 50 } });
  const { sink, events, failure } = await run(bench, 50);
  expect(failure).toBeUndefined();
  const late = events.find((event) => event.kind === 'checkpoint-completed');
  expect(late?.durationMs).toBeGreaterThan(45);
  expect(bench.storage.calls.publish).toBeGreaterThan(0);
  assertExactlyOnce(sink.visible, ALL);
});

test.each<[string, StorageFault]>([
  ['whose metadata was cut short', { on: 'publish', nth: 1, does: { kind: 'truncate', bytes: 20 } }],
  ['that cannot be read whole', { on: 'read', nth: 'all', does: { kind: 'truncate', bytes: 20 } }],
  ['of which a blob lost its end', { on: 'write', nth: 'all', does: { kind: 'truncate', bytes: 1 } }],
])('a checkpoint %s ends the job with a name, and nothing starts over', async (_, fault) => {
  const { sink, failure } = await run(benchWith(fault), 50);
  expect(failure).toMatchObject({ code: 'CHECKPOINT_UNREADABLE' });
  expect(new Set(sink.visible).size).toBe(sink.visible.length);
  expect(sink.visible.length).toBeLessThan(COUNT);
});

test('a gate stalls a checkpoint for as long as it is closed', async () => {
  const { env } = benchWith();
  const sink = transactionalMemorySink<number>();
  const held = gate();
  held.close();
  env.from(numbers(COUNT)).pipe(held.pass<number>()).to(sink, { uid: 'out' });
  const job = await env.start('gated');
  await held.reached();
  const checkpoint = job.triggerCheckpoint();
  for (let turn = 0; turn < 50; turn++) await nextTurn(systemClock);
  expect(job.checkpointStatistics()?.counts).toMatchObject({ inProgress: 1, completed: 0 });
  held.open();
  expect(await checkpoint).toMatchObject({ checkpointId: 1 });
  await job.done;
  assertExactlyOnce(sink.visible, ALL);
});
