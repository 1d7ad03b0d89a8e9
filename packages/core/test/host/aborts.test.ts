import { describe, expect, test } from 'vitest';
import { transform, union, type Operator } from '../../src/operators.js';
import type { CheckpointId } from '../../src/element/ids.js';
import { AttemptBench, plan, type AttemptBenchOptions } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred, type Deferred } from '../support/deferred.js';
import { splitSource, type Poll } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

interface Joined {
  readonly bench: AttemptBench;
  readonly clock: TickingClock;
  readonly outside: Outside<string>;
  /** Lets what is held up go on. */
  readonly open: Deferred;
  /** Checkpoints that were captured behind b. */
  readonly captured: CheckpointId[];
  /** What has reached the sink. */
  readonly written: string[];
}

/** a, and b behind an operator of its own, meet in front of one sink. `hold` says what is held up until the test opens it. */
async function joined(hold: 'prepare of b' | 'nothing', options: Partial<AttemptBenchOptions> = {}): Promise<Joined> {
  const clock = new TickingClock();
  const outside = new Outside<string>();
  const open = deferred();
  const captured: CheckpointId[] = [];
  const written: string[] = [];
  const onWrite = (batch: readonly string[]): void => void written.push(...batch);
  const records = (name: string): string[] => Array.from({ length: 20 }, (_, i) => `${name}${String(i)}`);
  const polls = (): Poll => ({ count: 1, isAsync: true });
  const watched: Operator<string> = {
    connect: (source) => source,
    prepare: () => (hold === 'prepare of b' ? open.promise : undefined),
    capture: (id) => {
      captured.push(id);
      return undefined;
    },
  };
  const described = plan((from) => {
    const a = from(splitSource([records('a')], { polls }), { uid: 'a' });
    const b = from(splitSource([records('b')], { polls }), { uid: 'b' });
    const behindB = transform<string, 'replayable'>(
      [b],
      { name: 'watched', isStateful: true, create: () => watched },
      { uid: 'w' },
    );
    a.pipe(union(behindB)).to(committingSink(outside, { onWrite }), { uid: 'out' });
  });
  const bench = new AttemptBench(described, { clock, ...options });
  await bench.run();
  // Some records are on their way, so that there is something to store.
  await clock.run(4);
  return { bench, clock, outside, open, captured, written };
}

/** What follows an abort must work as if nothing had happened. */
async function expectTheRestToWork({ bench, clock, outside, open }: Joined): Promise<void> {
  open.resolve();
  const next = await bench.trigger(7);
  await clock.settle();
  expect(next.isComplete).toBe(true);
  await clock.settle();
  await bench.attempt.allEnded;
  const final = await bench.trigger(8);
  await clock.settle();
  expect(final.isComplete).toBe(true);
  const told = bench.complete(final);
  await clock.settle();
  await told;
  await bench.attempt.close('finished');
  expect(outside.visible.toSorted()).toEqual(
    ['a', 'b'].flatMap((name) => Array.from({ length: 20 }, (_, i) => `${name}${String(i)}`)).toSorted(),
  );
}

describe('a checkpoint that is aborted', () => {
  test('before its barriers have left is forgotten', async () => {
    const it = await joined('nothing');
    const aborted = await it.bench.trigger(1);
    it.bench.abort(aborted);
    await it.clock.run(20);
    expect([aborted.acks.size, aborted.declines, it.captured]).toEqual([0, [], []]);
    await expectTheRestToWork(it);
  });

  test('while one input waits for the barrier of the other sets that input free', async () => {
    const it = await joined('prepare of b');
    const aborted = await it.bench.trigger(1);
    await it.clock.settle();
    const before = it.written.length;
    expect(before).toBeLessThan(20);
    it.bench.abort(aborted);
    await it.clock.settle();
    // Although b is still held up.
    expect(it.written.filter((record) => record.startsWith('a'))).toHaveLength(20);
    const next = await it.bench.trigger(2);
    it.open.resolve();
    await it.clock.settle();
    expect(next.isComplete).toBe(true);
    await expectTheRestToWork(it);
  });

  test('testNotifyCheckpointAbortedBeforeAsyncPhase: while an operator prepares goes no further than there', async () => {
    const it = await joined('prepare of b');
    const aborted = await it.bench.trigger(1);
    await it.clock.settle();
    it.bench.abort(aborted);
    it.open.resolve();
    await it.clock.settle();
    expect([it.captured, aborted.acks.has('out#0')]).toEqual([[], false]);
    await expectTheRestToWork(it);
  });

  test('while it is written is not acknowledged any more', async () => {
    const write = deferred();
    let isHeld = true;
    const it = await joined('nothing', { onWrite: () => (isHeld ? write.promise : undefined) });
    const aborted = await it.bench.trigger(1);
    await it.clock.settle();
    expect(aborted.acks.has('a#0')).toBe(false);
    it.bench.abort(aborted);
    await it.clock.settle();
    isHeld = false;
    write.resolve();
    await it.clock.settle();
    expect([aborted.acks.has('a#0'), aborted.declines]).toEqual([false, []]);
    await expectTheRestToWork(it);
  });

  test('after it was acknowledged changes nothing', async () => {
    const it = await joined('nothing');
    const aborted = await it.bench.trigger(1);
    await it.clock.settle();
    expect(aborted.isComplete).toBe(true);
    it.bench.abort(aborted);
    await expectTheRestToWork(it);
  });

  test('is declined by a subtask that cannot write it, with the reason, and the attempt goes on', async () => {
    let isBroken = true;
    const it = await joined('nothing', {
      onWrite: () => {
        if (isBroken) throw Object.assign(new Error('disk full'), { syscall: 'write' });
      },
    });
    const declined = await it.bench.trigger(1);
    await it.clock.settle();
    expect(declined.declines).toEqual(
      expect.arrayContaining([expect.objectContaining({ reason: 'IO_EXCEPTION', checkpointId: 1 })]),
    );
    isBroken = false;
    it.bench.abort(declined);
    await expectTheRestToWork(it);
  });

  test('tells of the newest that is complete, and commits what that covers', async () => {
    const it = await joined('nothing');
    const first = await it.bench.trigger(1);
    const second = await it.bench.trigger(2);
    const third = await it.bench.trigger(3);
    await it.clock.settle();
    expect([first, second, third].every(({ isComplete }) => isComplete)).toBe(true);
    it.bench.attempt.aborted(3, 2);
    await it.clock.settle();
    const committed = [...it.outside.visible];
    expect(committed.length).toBeGreaterThan(0);
    const told = it.bench.complete(second);
    await it.clock.settle();
    await told;
    expect(it.outside.visible).toEqual(committed);
    await expectTheRestToWork(it);
  });
});

test('a completion that an abort has announced is not settled before its commits are', async () => {
  const clock = new TickingClock();
  const commit = deferred();
  const described = plan((from) => {
    from(splitSource([['x']])).to(
      {
        grade: 'exactly-once',
        open: () => {
          const pending: string[] = [];
          return {
            write: (batch) => void pending.push(...batch),
            prepareCommit: () => pending.splice(0),
            close: () => undefined,
          };
        },
        destination: () => ({ id: 'place', name: 'a place', committed: [] }),
        committer: () => ({
          commit: async (committables) => {
            await commit.promise;
            return committables.map(() => ({ kind: 'committed' }));
          },
        }),
      },
      { uid: 'out' },
    );
  });
  const bench = new AttemptBench(described, { clock });
  await bench.run();
  await clock.settle();
  const checkpoint = await bench.trigger(2);
  await clock.settle();
  let isCommitted = false;
  bench.attempt.aborted(1, 2);
  const told = bench.complete(checkpoint).then(() => {
    isCommitted = true;
  });
  await clock.settle();
  expect(isCommitted).toBe(false);
  commit.resolve();
  await clock.settle();
  await told;
  await bench.attempt.close('finished');
});
