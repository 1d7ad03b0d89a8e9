import { createMemoryStorage } from '@weir/backend-memory';
import type { CheckpointStorage } from '@weir/core/contracts';
import { assertExactlyOnce, faultyStorage, seededRandom, type StorageFault } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { expectedCounts, startCounting, type CountingJob, type CountingOptions } from './support/counting-job.js';

// A storage that is slow, full, read-only, flaky, or of which nobody knows what it did. Whatever it does, no output is lost or repeated.

const RECORDS = 50;

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as planned`), { code, syscall: 'write' });
}
const times = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
function faults(
  on: 'create' | 'write' | 'publish' | 'read' | 'delete' | 'list',
  nths: readonly (number | 'all')[],
  error?: Error,
): StorageFault[] {
  return nths.map((nth): StorageFault => ({ on, nth, does: { kind: 'throw', error } }));
}

async function start(
  faulty: readonly StorageFault[],
  options: CountingOptions = {},
  disk: CheckpointStorage = createMemoryStorage(),
): Promise<CountingJob> {
  return startCounting({ records: RECORDS, ...options, storage: faultyStorage(disk, faulty) });
}

async function end(counting: CountingJob): Promise<unknown> {
  let how: unknown;
  counting.job.done.then(
    (value) => (how = value),
    (error: unknown) => (how = error),
  );
  await counting.clock.until(() => how !== undefined);
  return how;
}
async function toTheEnd(counting: CountingJob): Promise<void> {
  expect(await end(counting)).toBe('finished');
  assertExactlyOnce(counting.sink.visible, expectedCounts(RECORDS));
}
const reasons = ({ told }: CountingJob): readonly string[] => told('checkpoint-aborted').map(({ reason }) => reason);

describe('failOnCheckpointError', () => {
  test('true: the first failed checkpoint fails the job', async () => {
    const counting = await start(faults('publish', [1]), { failOnCheckpointError: true, restarts: 0 });
    expect(await end(counting)).toMatchObject({
      code: 'RESTART_SUPPRESSED',
      cause: { code: 'CHECKPOINT_TOLERANCE_EXCEEDED' },
    });
  });

  test('false: none does, however many fail', async () => {
    const counting = await start(faults('publish', times(1, 15)), { failOnCheckpointError: false, restarts: 0 });
    await toTheEnd(counting);
    expect(reasons(counting)).toHaveLength(15);
    expect(counting.told('checkpoint-aborted').every(({ counted }) => !counted)).toBe(true);
  });

  test('counts for nothing beside a number of tolerable failures, and says that it is deprecated', async () => {
    const counting = await start(faults('publish', [1, 2, 3]), {
      failOnCheckpointError: false,
      tolerableFailures: 2,
      restarts: 0,
    });
    expect(await end(counting)).toMatchObject({ code: 'RESTART_SUPPRESSED' });
    expect(counting.told('warning').map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/failOnCheckpointError is deprecated.*tolerableFailures/),
    );
  });
});

describe('a storage that is', () => {
  test('slow, but not too slow, holds nothing up', async () => {
    const counting = await start([{ on: 'write', nth: 'all', does: { kind: 'delay', ms: 3 } }]);
    await toTheEnd(counting);
    expect(reasons(counting)).toEqual([]);
  });

  test('slower than the timeout lets checkpoints expire, and nothing of those that do stays', async () => {
    const late = times(1, 6).map((nth): StorageFault => ({ on: 'publish', nth, does: { kind: 'delay', ms: 500 } }));
    const counting = await start(late.slice(0, 1), { timeout: 30, tolerableFailures: Infinity });
    await toTheEnd(counting);
    expect(reasons(counting)).toEqual(['CHECKPOINT_EXPIRED']);
    const slow = await start(
      times(1, 6).map((nth): StorageFault => ({ on: 'create', nth, does: { kind: 'delay', ms: 500 } })),
      { timeout: 30, tolerableFailures: Infinity },
    );
    await toTheEnd(slow);
    expect(reasons(slow)).toEqual(times(1, 6).map(() => 'CHECKPOINT_EXPIRED'));
  });

  test.each(['ENOSPC', 'EROFS', 'EIO'])(
    'of no use for a while (%s) keeps the newest checkpoint, and takes new ones afterwards',
    async (code) => {
      const error = systemError(code);
      const disk = createMemoryStorage();
      const counting = await start(
        [
          ...faults('create', [3, 4], error),
          ...faults('write', times(12, 20), error),
          ...faults('publish', [4, 5], error),
        ],
        { tolerableFailures: 20 },
        disk,
      );
      await counting.clock.until(
        () => counting.told('checkpoint-completed').length > 0 && reasons(counting).length >= 3,
      );
      // What completed last is what a crash goes back to.
      const newest = counting.told('checkpoint-completed').at(-1)?.checkpointId;
      counting.crash();
      await counting.clock.until(() => counting.told('restored').length === 1);
      expect(counting.told('restored')[0]?.checkpointId ?? 0).toBeGreaterThanOrEqual(newest ?? 1);
      await toTheEnd(counting);
      expect(
        reasons(counting).every((reason) =>
          ['IO_EXCEPTION', 'FINALIZE_CHECKPOINT_FAILURE', 'CHECKPOINT_COORDINATOR_SUSPEND'].includes(reason),
        ),
      ).toBe(true);
    },
  );

  test('read-only for good ends the job once failures are not tolerable, and commits nothing', async () => {
    const error = systemError('EROFS');
    const counting = await start([...faults('create', ['all'], error), ...faults('delete', ['all'], error)], {
      tolerableFailures: 2,
      restarts: 1,
    });
    expect(await end(counting)).toMatchObject({
      code: 'RESTART_SUPPRESSED',
      cause: { code: 'CHECKPOINT_TOLERANCE_EXCEEDED' },
    });
    expect([counting.sink.visible, counting.told('failure').length]).toEqual([[], 2]);
  });

  test('not able to delete anything leaves files, and nothing else is wrong', async () => {
    const counting = await start(faults('delete', ['all']));
    await toTheEnd(counting);
    expect(counting.told('failure')).toEqual([]);
    expect(counting.told('warning').length).toBeGreaterThan(0);
  });
});

describe('a storage that fails while a process starts', () => {
  test.each(['EMFILE', 'EIO', 'ETIMEDOUT'])('(%s) is asked again, and the same is restored', async (code) => {
    const disk = createMemoryStorage();
    const first = await startCounting({ records: RECORDS, storage: disk });
    await first.clock.until(() => first.told('checkpoint-completed').length === 2);
    await first.leave();
    const error = systemError(code);
    // The first list fails, and of the tries behind it the first read.
    const faulty = [...faults('list', [1, 2], error), ...faults('read', [1], error)];
    const second = await start(faulty, { sink: first.sink }, disk);
    await toTheEnd(second);
    expect(second.told('restart')).toHaveLength(3);
    expect(second.told('restored')[0]?.checkpointId).toBeGreaterThanOrEqual(2);
  });
});

describe('a publish of which nobody knows whether it happened', () => {
  const lost: StorageFault = { on: 'publish', nth: 2, does: { kind: 'lose-answer', error: systemError('ECONNRESET') } };
  const failed: StorageFault = { on: 'publish', nth: 2, does: { kind: 'throw', error: systemError('ECONNRESET') } };
  const blind: readonly StorageFault[] = faults('list', times(2, 4), systemError('ECONNRESET'));

  test.each([
    ['it did, and that can be seen', [lost], true],
    ['it did, and that cannot be seen', [lost, ...blind], true],
    ['it did not, and that cannot be seen', [failed, ...blind], false],
  ])('%s: a new process may find either, and both are right', async (_title, faulty, happened) => {
    const disk = createMemoryStorage();
    const first = await start(faulty, { tolerableFailures: 5 }, disk);
    await first.clock.until(() => reasons(first).length === 1);
    expect(first.told('checkpoint-aborted')).toMatchObject([
      { checkpointId: 2, reason: 'FINALIZE_CHECKPOINT_FAILURE' },
    ]);
    // Nothing that 2 covers is visible before another one covers it too.
    expect(first.told('committed').map(({ checkpointId }) => checkpointId)).toEqual([1]);
    await first.leave();

    const second = await startCounting({ records: RECORDS, storage: disk, sink: first.sink });
    await second.clock.until(() => second.told('restored').length === 1);
    expect(second.told('restored')[0]?.checkpointId).toBe(happened ? 2 : 1);
    await toTheEnd(second);
  });

  test('goes on in the same process too, from what is known', async () => {
    const counting = await start([lost, ...blind], { tolerableFailures: 5 });
    await counting.clock.until(() => reasons(counting).length === 1);
    counting.crash();
    await counting.clock.until(() => counting.told('restored').length === 1);
    expect(counting.told('restored')[0]?.checkpointId).toBe(1);
    await toTheEnd(counting);
  });
});

test('a storage that fails, is late or loses its answers at random loses and repeats nothing', async () => {
  let [aborted, restored] = [0, 0];
  for (let seed = 1; seed <= 25; seed++) {
    const random = seededRandom(seed);
    const misfortune = (): StorageFault['does'] & { kind: 'throw' | 'delay' | 'lose-answer' } => {
      const dice = random();
      if (dice < 0.4) return { kind: 'throw' };
      return dice < 0.7 ? { kind: 'delay', ms: Math.floor(random() * 40) } : { kind: 'lose-answer' };
    };
    const faulty = (['create', 'write', 'publish', 'delete', 'list'] as const).flatMap((on) =>
      times(1, 60)
        .filter(() => random() < 0.25)
        .map((nth): StorageFault => ({ on, nth, does: misfortune() })),
    );
    // The first look at an empty storage is not what this is about.
    const usable = faulty.filter(({ on, nth }) => on !== 'list' || nth !== 1);
    const counting = await start(usable, {
      tolerableFailures: 1,
      maxConcurrent: 1 + (seed % 3),
      timeout: 60,
      restarts: 100,
    });
    for (const at of [40, 90])
      counting.clock.timer(at, () => {
        counting.crash();
      });
    expect([seed, await end(counting)]).toEqual([seed, 'finished']);
    assertExactlyOnce(counting.sink.visible, expectedCounts(RECORDS));
    aborted += reasons(counting).length;
    restored += counting.told('restored').length;
  }
  expect(aborted).toBeGreaterThan(50);
  expect(restored).toBeGreaterThan(20);
}, 60_000);
