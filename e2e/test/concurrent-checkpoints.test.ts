import type { CheckpointId } from '@weir/core/contracts';
import { assertExactlyOnce } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { expectedCounts, startCounting, type CountingJob, type CountingOptions } from './support/counting-job.js';
import type { StorageStep } from './support/stepped-storage.js';

// Several checkpoints of one job in flight, in every order (Flink: CheckpointCoordinatorTest; the first ids are 1, 2, 3).

const RECORDS = 50;
const IDS: readonly CheckpointId[] = [1, 2, 3];

/** A job in which some checkpoints are held up at a step until they are let go. */
class Held {
  readonly #gates = new Map<CheckpointId, { step: StorageStep; go: () => void; gone: Promise<void> }>();
  readonly counting: Promise<CountingJob>;

  constructor(held: readonly (readonly [CheckpointId, StorageStep])[], options: CountingOptions = {}) {
    for (const [id, step] of held) {
      let go = (): void => undefined;
      const gone = new Promise<void>((resolve) => (go = resolve));
      this.#gates.set(id, { step, go, gone });
    }
    this.counting = startCounting({
      records: RECORDS,
      maxConcurrent: 3,
      ...options,
      at: async (step, id) => {
        const gate = this.#gates.get(id);
        if (gate?.step === step) await gate.gone;
        await options.at?.(step, id);
      },
    });
  }
  letGo(id: CheckpointId): void {
    this.#gates.get(id)?.go();
  }
}

const triggered = ({ told }: CountingJob): readonly CheckpointId[] =>
  told('checkpoint-triggered').map(({ checkpointId }) => checkpointId);
const completed = ({ told }: CountingJob): readonly CheckpointId[] =>
  told('checkpoint-completed').map(({ checkpointId }) => checkpointId);

async function toTheEnd(counting: CountingJob): Promise<void> {
  let end: unknown;
  counting.job.done.then(
    (value) => (end = value),
    (error: unknown) => (end = error),
  );
  await counting.clock.until(() => end !== undefined);
  expect(end).toBe('finished');
  assertExactlyOnce(counting.sink.visible, expectedCounts(RECORDS));
}

describe('several checkpoints in flight', () => {
  test('are as many as may be, and no more', async () => {
    const held = new Held(IDS.map((id) => [id, 'written'] as const));
    const counting = await held.counting;
    await counting.clock.advance(80);
    expect([triggered(counting), completed(counting)]).toEqual([[1, 2, 3], []]);
    held.letGo(1);
    await counting.clock.until(() => triggered(counting).length === 4);
    expect(completed(counting)).toEqual([1]);
    for (const id of IDS) held.letGo(id);
    await toTheEnd(counting);
  });

  test('testMaxConcurrentAttemptsWithSubsumption: the newest that completes takes the place of those before it', async () => {
    const held = new Held([
      [1, 'written'],
      [3, 'written'],
    ]);
    const counting = await held.counting;
    await counting.clock.until(() => completed(counting).length > 0);
    expect(completed(counting)).toEqual([2]);
    expect(counting.told('checkpoint-aborted')).toMatchObject([
      { checkpointId: 1, reason: 'CHECKPOINT_SUBSUMED', counted: false },
    ]);
    // What 1 had prepared is committed with 2.
    await counting.clock.settle();
    const prepared = counting.sink.log.filter((s) => s.kind === 'prepare' && (s.checkpointId ?? 0) <= 2);
    const committed = counting.sink.log.filter((s) => s.kind === 'commit');
    expect(prepared.length).toBeGreaterThan(0);
    expect(committed.map((s) => s.transaction)).toEqual(prepared.map((s) => s.transaction));
    held.letGo(1);
    held.letGo(3);
    await toTheEnd(counting);
    expect(counting.told('failure')).toEqual([]);
  });

  test.each([
    [1, 2, 3],
    [1, 3, 2],
    [2, 1, 3],
    [2, 3, 1],
    [3, 1, 2],
    [3, 2, 1],
  ])('complete in the order in which they are written (%i, %i, %i), unless a newer one has', async (...order) => {
    const held = new Held(IDS.map((id) => [id, 'written'] as const));
    const counting = await held.counting;
    await counting.clock.until(() => triggered(counting).length === 3);
    await counting.clock.advance(1);
    for (const id of order) {
      held.letGo(id);
      await counting.clock.settle();
    }
    const ascending = order.filter((id, i) => order.slice(0, i).every((before) => before < id));
    expect(completed(counting).slice(0, ascending.length)).toEqual(ascending);
    const aborted = counting.told('checkpoint-aborted').map(({ checkpointId, reason }) => [checkpointId, reason]);
    expect(aborted.toSorted()).toEqual(
      IDS.filter((id) => !ascending.includes(id)).map((id) => [id, 'CHECKPOINT_SUBSUMED']),
    );
    await toTheEnd(counting);
  });

  test.each(IDS)('go on when one of them fails (%i): what it covered is committed with the next', async (failing) => {
    const counting = await startCounting({
      records: RECORDS,
      maxConcurrent: 3,
      tolerableFailures: 1,
      at: (step, id) => {
        if (step === 'written' && id === failing) throw new Error('no space');
      },
    });
    await toTheEnd(counting);
    expect(counting.told('checkpoint-aborted')).toMatchObject([{ checkpointId: failing, counted: true }]);
    expect(counting.told('failure')).toEqual([]);
  });

  test('that take too long expire one by one, and the next take their places', async () => {
    const slow = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const held = new Held(
      slow.map((id) => [id, 'written'] as const),
      { timeout: 35, tolerableFailures: 9 },
    );
    const counting = await held.counting;
    await counting.clock.until(() => counting.told('checkpoint-aborted').length === 3);
    const expired = counting.told('checkpoint-aborted');
    expect(expired.map(({ checkpointId, reason }) => [checkpointId, reason])).toEqual(
      IDS.map((id) => [id, 'CHECKPOINT_EXPIRED']),
    );
    for (const id of slow) held.letGo(id);
    await toTheEnd(counting);
    expect(completed(counting)[0]).toBeGreaterThan(3);
  });

  test('of a job at least once complete out of order too, and lose nothing', async () => {
    const held = new Held(
      [
        [1, 'written'],
        [3, 'written'],
      ],
      { mode: 'at-least-once' },
    );
    const counting = await held.counting;
    await counting.clock.until(() => completed(counting).includes(2));
    counting.crash();
    held.letGo(1);
    held.letGo(3);
    let isDone = false;
    void counting.job.done.finally(() => (isDone = true));
    await counting.clock.until(() => isDone);
    const ids = new Set(counting.sink.visible.map(([id]) => id));
    expect(ids.size).toBe(RECORDS);
  });
});

describe('a crash while three checkpoints are in flight', () => {
  const STEPS: readonly (StorageStep | 'none')[] = ['create', 'written', 'publish', 'published', 'none'];
  const cases = STEPS.flatMap((one) => STEPS.map((two) => [one, two] as const));

  test.each(cases)('loses and repeats nothing, with the first at "%s" and the second at "%s"', async (one, two) => {
    const steps = [one, two, 'written' as const].map((step, i) => [i + 1, step] as const);
    const held = new Held(
      steps.filter((at): at is readonly [CheckpointId, StorageStep] => at[1] !== 'none'),
      { tolerableFailures: Infinity },
    );
    const counting = await held.counting;
    await counting.clock.advance(70);
    const newest = completed(counting).at(-1);
    counting.crash();
    // What is on its way to the storage cannot be taken back, and arrives while the attempt ends.
    await counting.clock.advance(4);
    for (const id of IDS) held.letGo(id);
    await counting.clock.until(() => counting.told('attempt-started').length === 2);
    const [, second] = counting.told('attempt-started');
    expect(second?.restoredCheckpoint ?? 0).toBeGreaterThanOrEqual(newest ?? 0);
    await toTheEnd(counting);
    expect(counting.told('failure')).toHaveLength(1);
  });
});
