import { createFsStorage } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { fromResumable, committed, committedBatches, type CommittedBatch } from '@weir/connectors/rxjs';
import {
  CheckpointStorageRole,
  createEnvironment,
  type CheckpointOptions,
  type Duration,
  type Environment,
  type JobEvent,
  type JobHandle,
} from '@weir/core';
import { SILENT, type CheckpointStorage } from '@weir/core/contracts';
import { map, rebalance, tap, type Stream } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { CrashFileSystem, failOnce, faultyStorage, numbers, type StorageFault } from '@weir/testkit';
import { filter, firstValueFrom, map as rxMap, Observable, ReplaySubject, skip } from 'rxjs';
import { describe, expect, test } from 'vitest';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

interface World {
  readonly disk: CrashFileSystem;
  readonly storage: CheckpointStorage & { readonly calls: Readonly<Record<string, number>> };
  /** An environment of one process after the other: they share the disk. */
  environment(interval?: Duration, options?: CheckpointOptions, parallelism?: number): Environment;
}
function world(faults: readonly StorageFault[] = []): World {
  const disk = new CrashFileSystem();
  const storage = faultyStorage(createFsStorage({ checkpointsDir: '/checkpoints', fileSystem: disk }), faults);
  return {
    disk,
    storage,
    environment(interval, options, parallelism = 1) {
      const env = createEnvironment({
        parallelism,
        logger: SILENT,
        plugins: [
          checkpointCoordinator(),
          { name: 'disk', install: (binder) => binder.provide(CheckpointStorageRole, 'disk', () => storage) },
          fixedDelayRestart({ attempts: 10, delay: 0 }),
        ],
      });
      env.enableCheckpointing(interval, options);
      return env;
    },
  };
}

/** A log that grows: what `fromResumable` is made for. */
class Log {
  readonly #entries = new ReplaySubject<number>();
  #length = 0;
  append(count: number): void {
    for (let i = 0; i < count; i++) this.#entries.next(this.#length++);
  }
  end(): void {
    this.#entries.complete();
  }
  readonly source = fromResumable({
    start: 0,
    open: (at) =>
      this.#entries.pipe(
        skip(at),
        rxMap((value) => ({ value, resumeAt: value + 1 })),
      ),
  });
}

function eventOf<K extends JobEvent['kind']>(job: JobHandle, kind: K): Promise<JobEvent & { kind: K }> {
  return firstValueFrom(job.events$.pipe(filter((event): event is JobEvent & { kind: K } => event.kind === kind)));
}
function counted(): {
  readonly count: number;
  through<T>(stream: Stream<T>): Stream<T>;
  reaches(n: number): Promise<void>;
} {
  let count = 0;
  const waiting: { n: number; resolve: () => void }[] = [];
  return {
    get count() {
      return count;
    },
    through: <T>(stream: Stream<T>) =>
      stream.pipe(
        tap<T>(() => {
          count++;
          for (const { n, resolve } of waiting) if (count >= n) resolve();
        }),
      ),
    reaches: (n) => new Promise((resolve) => waiting.push({ n, resolve })),
  };
}

describe('committed', () => {
  test('emits what a completed checkpoint covers, and only that', async () => {
    const log = new Log();
    const read = counted();
    const seen: unknown[] = [];
    const env = world().environment();
    read
      .through(env.from(log.source, { uid: 'log' }))
      .pipe(committed({ uid: 'live' }))
      .subscribe({ next: (n) => seen.push(n), complete: () => seen.push('complete') });
    const job = await env.start('job');
    const three = read.reaches(3);
    log.append(3);
    await three;
    expect(seen).toEqual([]);
    await job.triggerCheckpoint();
    await eventOf(job, 'committed');
    expect(seen).toEqual([0, 1, 2]);
    log.append(2);
    log.end();
    expect(await job.done).toBe('finished');
    expect(seen).toEqual([0, 1, 2, 3, 4, 'complete']);
  });

  test.each([1, 3])(
    'emits each record once through one failure after the other, at parallelism %i',
    async (parallelism) => {
      const seen: number[] = [];
      const env = world().environment('10ms', {}, parallelism);
      env
        .from(numbers(20_000, { perPoll: 50, turnsBetween: 1 }), { uid: 'numbers' })
        .pipe(
          rebalance(),
          failOnce((n) => n === 2_000),
          failOnce((n) => n === 9_000),
          failOnce((n) => n === 19_999),
          committed({ uid: 'live' }),
        )
        .subscribe((n) => seen.push(n));
      const job = await env.start('job');
      const kinds: string[] = [];
      job.events$.subscribe(({ kind }) => kinds.push(kind));
      expect(await job.done).toBe('finished');
      expect(seen.toSorted((a, b) => a - b)).toEqual(upTo(20_000));
      expect(kinds.filter((kind) => kind === 'restart')).toHaveLength(3);
      expect(kinds.filter((kind) => kind === 'checkpoint-completed').length).toBeGreaterThan(3);
    },
  );

  test('does not emit again what a restart finds prepared in the checkpoint', async () => {
    const log = new Log();
    const read = counted();
    const seen: number[] = [];
    const env = world().environment();
    read
      .through(env.from(log.source, { uid: 'log' }))
      .pipe(
        failOnce((n) => n === 3),
        committed({ uid: 'live' }),
      )
      .subscribe((n) => seen.push(n));
    const job = await env.start('job');
    const three = read.reaches(3);
    log.append(3);
    await three;
    await job.triggerCheckpoint();
    await eventOf(job, 'committed');
    expect(seen).toEqual([0, 1, 2]);
    // Nothing was captured since: the restart commits 0 to 2 once more.
    log.append(1);
    const restored = await eventOf(job, 'restored');
    expect(restored.checkpointId).toBeGreaterThan(0);
    log.end();
    expect(await job.done).toBe('finished');
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  test.each([
    ['again after a crash before that was written down, with the same id', true],
    ['not again once it is written down', false],
  ])('gives the last checkpoint %s', async (_when, isLost) => {
    const here = world(isLost ? [{ on: 'write-committed', nth: 1, does: { kind: 'throw' } }] : []);
    const log = new Log();
    const read = counted();
    const process = (batches: CommittedBatch<number>[]): Promise<JobHandle> => {
      const env = here.environment();
      read
        .through(env.from(log.source, { uid: 'log' }))
        .pipe(committedBatches({ uid: 'live' }))
        .subscribe((batch) => batches.push(batch));
      return env.start('job');
    };
    const before: CommittedBatch<number>[] = [];
    const first = await process(before);
    const five = read.reaches(5);
    log.append(5);
    await five;
    await first.triggerCheckpoint();
    await eventOf(first, 'committed');
    await first[Symbol.asyncDispose]();

    const after: CommittedBatch<number>[] = [];
    log.append(2);
    log.end();
    const second = await process(after);
    expect(await second.done).toBe('finished');
    const lastId = before.at(-1)?.checkpointId ?? 0;
    expect(before).toHaveLength(1);
    expect(isLost ? after.shift() : before[0]).toEqual(before[0]);
    for (const { checkpointId } of after) expect(checkpointId).toBeGreaterThan(lastId);
    expect([...before, ...after].flatMap(({ records }) => records)).toEqual(upTo(7));
  });

  test('goes on from the next attempt when a subscriber throws, without repeating what it threw over', async () => {
    const seen: number[] = [];
    const env = world().environment();
    env
      .from(numbers(10), { uid: 'numbers' })
      .pipe(committed({ uid: 'live' }))
      .subscribe((n) => {
        seen.push(n);
        if (n === 4) throw new Error('page is gone');
      });
    const job = await env.start('job');
    const failure = eventOf(job, 'failure');
    expect(await job.done).toBe('finished');
    expect(await failure).toMatchObject({ error: { code: 'COMMIT_FAILED', cause: { message: 'page is gone' } } });
    expect(seen).toEqual(upTo(10));
  });
});

describe('a full buffer of committed (SO-13)', () => {
  test.each<[string, Duration | undefined, number]>([
    ['although nobody else triggers a checkpoint', undefined, 1],
    ['long before the interval is over', '1h', 1],
    ['where records and barriers come over channels', undefined, 2],
  ])('has checkpoints taken, %s', async (_case, interval, parallelism) => {
    const capacity = 50;
    const perPoll = 10;
    const read = counted();
    let emitted = 0;
    let mostHeld = 0;
    const env = world().environment(interval, {}, parallelism);
    read
      .through(env.from(numbers(20_000, { perPoll }), { uid: 'numbers', parallelism: 1 }))
      .pipe(
        map((n) => n),
        rebalance(),
        committed({ uid: 'live', capacity }),
      )
      .subscribe(() => {
        mostHeld = Math.max(mostHeld, read.count - emitted++);
      });
    const job = await env.start('job');
    const completed: number[] = [];
    job.events$.subscribe((e) => e.kind === 'checkpoint-completed' && completed.push(e.checkpointId));
    expect(await job.done).toBe('finished');
    expect(emitted).toBe(20_000);
    expect(completed.length).toBeGreaterThan(2);
    // The buffer and, where there are any, the channels in front of it (2,048 records and a batch each).
    const channels = 2 * (parallelism === 1 ? 1 : parallelism * 2) * (2048 + 1024);
    expect(mostHeld).toBeLessThanOrEqual(capacity + 2 * perPoll + channels);
  });

  test('holds no more than its capacity and a poll where source and sink share a stage', async () => {
    const capacity = 50;
    const perPoll = 10;
    const read = counted();
    let emitted = 0;
    let mostHeld = 0;
    const env = world().environment();
    read
      .through(env.from(numbers(2_000, { perPoll }), { uid: 'numbers' }))
      .pipe(committed({ uid: 'live', capacity }))
      .subscribe(() => {
        mostHeld = Math.max(mostHeld, read.count - emitted++);
      });
    expect(await env.execute('job')).toBe('finished');
    expect(emitted).toBe(2_000);
    expect(mostHeld).toBeLessThanOrEqual(capacity + 2 * perPoll);
  });

  test('outlives checkpoints that fail', async () => {
    const here = world([
      { on: 'publish', nth: 1, does: { kind: 'throw' } },
      { on: 'publish', nth: 3, does: { kind: 'throw' } },
    ]);
    const seen: number[] = [];
    const env = here.environment(undefined, { tolerableFailures: 5 });
    env
      .from(numbers(1_000, { perPoll: 10 }), { uid: 'numbers' })
      .pipe(committed({ uid: 'live', capacity: 50 }))
      .subscribe((n) => seen.push(n));
    const job = await env.start('job');
    const kinds: string[] = [];
    job.events$.subscribe(({ kind }) => kinds.push(kind));
    expect(await job.done).toBe('finished');
    expect(seen).toEqual(upTo(1_000));
    expect(here.storage.calls['publish']).toBeGreaterThan(3);
    expect(kinds.filter((kind) => kind === 'checkpoint-aborted')).toHaveLength(2);
    expect(kinds).not.toContain('restart');
  });

  test('lets a job be cancelled while it waits', async () => {
    const here = world([{ on: 'publish', nth: 'all', does: { kind: 'delay', ms: 50 } }]);
    const env = here.environment();
    const read = counted();
    const live$ = read
      .through(env.from(numbers(1_000_000, { perPoll: 10 }), { uid: 'numbers' }))
      .pipe(committed({ uid: 'live', capacity: 50 }));
    const ended = new Promise((resolve) => live$.subscribe({ complete: () => resolve('complete') }));
    const job = await env.start('job');
    await read.reaches(50);
    expect(await job.cancel()).toBe('cancelled');
    expect(await ended).toBe('complete');
  });
});

describe('fromResumable', () => {
  test('goes on at the position of the checkpoint, over pauses and failures, without losing or repeating', async () => {
    const opened: number[] = [];
    const seen: number[] = [];
    const env = world().environment('10ms');
    env
      .from(
        fromResumable({
          start: 0,
          capacity: 64,
          open: (at) => {
            opened.push(at);
            return new Observable<{ value: number; resumeAt: number }>((subscriber) => {
              for (let n = at; n < 30_000 && !subscriber.closed; n++) subscriber.next({ value: n, resumeAt: n + 1 });
              subscriber.complete();
            });
          },
        }),
        { uid: 'log' },
      )
      .pipe(
        failOnce((n) => n === 10_000),
        failOnce((n) => n === 25_000),
        committed({ uid: 'live' }),
      )
      .subscribe((n) => seen.push(n));
    expect(await env.execute('job')).toBe('finished');
    expect(seen).toEqual(upTo(30_000));
    expect(opened.length).toBeGreaterThan(30_000 / 64);
    // A restart opens behind where the attempt before had got to.
    expect(opened.filter((at, i) => at < (opened[i - 1] ?? 0)).length).toBeLessThanOrEqual(2);
  });

  test('starts where the process before left off', async () => {
    const here = world();
    const log = new Log();
    const read = counted();
    const run = (seen: number[]): Promise<JobHandle> => {
      const env = here.environment();
      read
        .through(env.from(log.source, { uid: 'log' }))
        .pipe(committed({ uid: 'live' }))
        .subscribe((n) => seen.push(n));
      return env.start('job');
    };
    const first: number[] = [];
    const job = await run(first);
    const ten = read.reaches(10);
    log.append(10);
    await ten;
    await job.triggerCheckpoint();
    await eventOf(job, 'committed');
    // One more, which finds nothing new: what is committed is no longer part of it.
    await job.triggerCheckpoint();
    await job[Symbol.asyncDispose]();
    const second: number[] = [];
    log.append(5);
    log.end();
    expect(await (await run(second)).done).toBe('finished');
    expect([...first, ...second]).toEqual(upTo(15));
  });
});
