import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsBackend } from '@weir/backend-fs';
import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import {
  createEnvironment,
  type EnvironmentOptions,
  type JobEvent,
  type JobHandle,
  type StartOptions,
} from '@weir/core';
import { SILENT, sleep, staticSplits, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, valueState, type Emit } from '@weir/core/operators';
import { assertExactlyOnce, numbers, transactionalMemorySink, type TransactionalMemorySink } from '@weir/testkit';
import { filter, firstValueFrom, take, toArray } from 'rxjs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

// Checkpoints go to the real disk, and the machine may have more to do.
vi.setConfig({ testTimeout: 30_000 });

const RECORDS = 6000;
const KEYS = 17;
type Count = readonly [key: number, count: number];

const EXPECTED: readonly Count[] = Array.from({ length: RECORDS }, (_, n) => [n % KEYS, Math.floor(n / KEYS) + 1]);

/** How far the source may read; it waits there. */
let limit: number;
let dir: string;
let sink: TransactionalMemorySink<Count>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'weir-'));
  sink = transactionalMemorySink();
  limit = 1000;
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

interface Program {
  readonly options?: Partial<EnvironmentOptions>;
  readonly savepointsDir?: string | undefined;
  /** The uid of the operator that counts. */
  readonly uid?: string;
}

/** The same program, as often as it is started: how many numbers of each key came. */
async function start(startOptions: StartOptions = {}, program: Program = {}): Promise<JobHandle> {
  const { options, savepointsDir, uid = 'count' } = program;
  const storage = fsBackend({ checkpointsDir: join(dir, 'state'), savepointsDir });
  const env = createEnvironment({ logger: SILENT, plugins: [checkpointCoordinator(), storage], ...options });
  env.enableCheckpointing('10ms', { tolerableFailures: Infinity });
  env
    .from(upToLimit(), { uid: 'numbers' })
    .pipe(
      keyBy((n) => n % KEYS),
      keyedProcess({
        uid,
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(_n, { key, state: { count } }, emit: Emit<Count>) {
          count.update(count.value() + 1);
          emit([key, count.value()]);
        },
      }),
    )
    .to(sink, { uid: 'out', guarantee: 'exactly-once' });
  return env.start('counts', startOptions);
}

/** 0 to RECORDS - 1. */
function upToLimit(): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    async open(_split, start = 0, { clock, signal }) {
      let next = start;
      return {
        async poll(max) {
          if (next === RECORDS) return 'end';
          // Whatever else there is to do goes on between two polls.
          await sleep(clock, 1, signal).catch(() => undefined);
          const first = next;
          next = Math.max(next, Math.min(next + max, next + 50, limit));
          return Array.from({ length: next - first }, (_, i) => first + i);
        },
        position: () => next,
        close: async () => undefined,
      };
    },
  };
}

/** Until all that may be read is visible. */
async function untilLimit(): Promise<void> {
  await expect.poll(() => sink.visible.length, { timeout: 10_000, interval: 5 }).toBe(limit);
}

async function afterCheckpoints(job: JobHandle, count: number): Promise<void> {
  const completed = job.events$.pipe(filter(({ kind }) => kind === 'checkpoint-completed'));
  await firstValueFrom(completed.pipe(take(count), toArray()));
}

async function warningsOf(job: JobHandle): Promise<readonly string[]> {
  const events: JobEvent[] = [];
  job.events$.subscribe((event) => events.push(event));
  await job.done;
  return events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
}

test('a job that is stopped and started again from its savepoint, however often, gives what one that ran through gives', async () => {
  let path: string | undefined;
  for (let stops = 0; stops < 3; stops++) {
    const job = await start({ restoreFrom: path });
    await afterCheckpoints(job, 1);
    ({ pointer: path } = await job.stopWithSavepoint({ dir: join(dir, 'mine') }));
    expect(await job.done).toBe('stopped');
    limit += 1000;
  }
  limit = RECORDS;
  const last = await start({ restoreFrom: path });
  expect(await last.done).toBe('finished');
  assertExactlyOnce(sink.visible, EXPECTED);
  expect(readdirSync(join(dir, 'mine'))).toHaveLength(3);
});

test('a stopped job that is started as before goes on, too', async () => {
  const job = await start({}, { savepointsDir: join(dir, 'mine') });
  await afterCheckpoints(job, 2);
  await job.stopWithSavepoint();
  limit = RECORDS;
  expect(readdirSync(join(dir, 'state', 'counts')).filter((name) => name.startsWith('chk-'))).toHaveLength(1);
  expect(await (await start()).done).toBe('finished');
  assertExactlyOnce(sink.visible, EXPECTED);
});

test('a savepoint of a job that is killed behind it serves a start in another directory, when it was moved', async () => {
  const job = await start();
  await untilLimit();
  const { pointer } = await job.triggerSavepoint(join(dir, 'mine'));
  const covered = [...sink.visible];
  limit = 2000;
  await untilLimit();
  await job[Symbol.asyncDispose]();
  const moved = join(dir, 'moved');
  renameSync(pointer, moved);
  rmSync(join(dir, 'state'), { recursive: true });
  // Another history, with an output of its own.
  sink = transactionalMemorySink();
  limit = RECORDS;
  const other = await start({ restoreFrom: join(moved, '_metadata') });
  expect(await other.done).toBe('finished');
  assertExactlyOnce([...covered, ...sink.visible], EXPECTED);
});

test('a savepoint that is claimed is removed once the job has a checkpoint, by option or by configuration', async () => {
  const byKey = { config: { 'execution.state-recovery.claim-mode': 'CLAIM' } };
  for (const [startOptions, options] of [
    [{ claimMode: 'claim' }, {}],
    [{}, byKey],
  ] as const) {
    const first = await start({ restoreFrom: 'none' });
    await afterCheckpoints(first, 1);
    const { pointer } = await first.stopWithSavepoint({ dir: join(dir, 'mine') });
    const next = await start({ restoreFrom: pointer, ...startOptions }, { options });
    await afterCheckpoints(next, 1);
    // Beside everything else.
    await vi.waitFor(() => {
      expect(existsSync(pointer)).toBe(false);
    });
    await next.cancel();
  }
});

test('state of an operator that is gone is refused, or left behind where that is allowed', async () => {
  const first = await start();
  await afterCheckpoints(first, 1);
  const { pointer } = await first.stopWithSavepoint({ dir: join(dir, 'mine') });
  const renamed = { uid: 'another' };
  await expect((await start({ restoreFrom: pointer }, renamed)).done).rejects.toThrow(
    /^CHECKPOINT_INCOMPATIBLE.*operator count/,
  );
  const byKey = { config: { 'execution.state-recovery.ignore-unclaimed-state': true } };
  for (const [startOptions, options] of [
    [{ allowNonRestoredState: true }, {}],
    [{}, byKey],
  ] as const) {
    const job = await start({ restoreFrom: pointer, ...startOptions }, { ...renamed, options });
    const warnings = warningsOf(job);
    await afterCheckpoints(job, 1);
    await job.cancel();
    expect(await warnings).toContainEqual(expect.stringContaining('leaves state of count behind'));
    rmSync(join(dir, 'state'), { recursive: true });
  }
});

test('the maximum parallelism of a savepoint is taken over where nobody sets another', async () => {
  const first = await start({}, { options: { maxParallelism: 7 } });
  await afterCheckpoints(first, 1);
  const { pointer } = await first.stopWithSavepoint({ dir: join(dir, 'mine') });
  await expect((await start({ restoreFrom: pointer }, { options: { maxParallelism: 8 } })).done).rejects.toThrow(
    /^CHECKPOINT_MAX_PARALLELISM.*maximum parallelism 7/,
  );
  // Stopped again, so that the checkpoints of the second run are tried, too.
  const second = await start({ restoreFrom: pointer });
  await afterCheckpoints(second, 1);
  const next = await second.stopWithSavepoint({ dir: join(dir, 'mine') });
  limit = RECORDS;
  expect(await (await start({ restoreFrom: next.pointer }, { options: { maxParallelism: 7 } })).done).toBe('finished');
  assertExactlyOnce(sink.visible, EXPECTED);
});

test('a storage in memory has no savepoints, and says what has', async () => {
  const env = createEnvironment({ logger: SILENT, plugins: [checkpointCoordinator(), memoryBackend()] });
  env.enableCheckpointing();
  env.from(numbers(RECORDS, { perPoll: 1, turnsBetween: 2 }), { uid: 'numbers' }).to(transactionalMemorySink());
  const job = await env.start('memory');
  await firstValueFrom(job.status$.pipe(filter((status) => status === 'running')));
  await expect(job.triggerSavepoint(dir)).rejects.toThrow(/^SAVEPOINT_NOWHERE.*\(memory\).*fsBackend/);
  await expect(job.stopWithSavepoint({ dir })).rejects.toThrow('SAVEPOINT_NOWHERE');
  expect(job.status).toBe('running');
  await job.cancel();
});

test('preferCheckpointForRecovery is accepted, and called deprecated', async () => {
  const options = { config: { 'execution.checkpointing.prefer-checkpoint-for-recovery': true } };
  const job = await start({}, { options });
  const warnings = warningsOf(job);
  await afterCheckpoints(job, 1);
  await job.cancel();
  expect(await warnings).toContainEqual(expect.stringMatching(/^preferCheckpointForRecovery is deprecated/));
});
