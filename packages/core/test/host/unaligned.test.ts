import { describe, expect, test } from 'vitest';
import { sleep } from '../../src/contracts/clock.js';
import { CHANNEL_CAPACITY } from '../../src/channel/channel.js';
import { BATCH_SIZE } from '../../src/element/element.js';
import {
  coProcess,
  flatMap,
  keyBy,
  keyedProcess,
  map,
  rebalance,
  transform,
  union,
  valueState,
  type Emit,
  type Operator,
} from '../../src/operators.js';
import type { Stream } from '../../src/graph/stream.js';
import { AttemptBench, plan, type TakenCheckpoint } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred, type Deferred } from '../support/deferred.js';
import { countInFlight, passOn, SlowJob, upTo, WRITE_MS, type Numbers } from '../support/slow-job.js';
import { splitSource } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

describe('under back-pressure', () => {
  const twoExchanges = (s: Numbers): Numbers => s.pipe(rebalance(), passOn, rebalance(), passOn);

  test('an unaligned checkpoint waits for one write, not for what is queued', async () => {
    const job = new SlowJob(twoExchanges);
    const bench = await job.attempt();
    await job.clock.advance(50 * WRITE_MS);
    const inFront = job.read - job.written;
    const before = job.written;
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(2 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(job.written - before).toBeLessThanOrEqual(2 * BATCH_SIZE);
    expect(countInFlight(checkpoint)).toBeGreaterThan(CHANNEL_CAPACITY);
    // What is captured has the bound of the buffers that it was in.
    expect(countInFlight(checkpoint)).toBeLessThanOrEqual(inFront);
    await job.crash(bench);
  });

  test('an aligned one waits for all of it', async () => {
    const job = new SlowJob(twoExchanges, { overtakesAfter: undefined });
    const bench = await job.attempt();
    await job.clock.advance(50 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(2 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(false);
    await job.clock.advance(20 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(checkpoint.inFlight).toEqual([]);
    await job.crash(bench);
  });

  test('a stage whose output is full is passed at once, also in the middle of a batch', async () => {
    const job = new SlowJob(twoExchanges);
    const bench = await job.attempt();
    await job.clock.advance(50 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    // Not long enough for a single write.
    await job.clock.settle();
    expect([...checkpoint.acks.keys()].toSorted()).toEqual(['in#0', 'map-1#0', 'map-2#0'].slice(0, 2));
    await job.crash(bench);
  });

  test('what was in flight comes first after a restore, and once', async () => {
    const job = new SlowJob(twoExchanges, { count: 20_000 });
    const bench = await job.attempt();
    await job.clock.advance(10 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(2 * WRITE_MS);
    expect(countInFlight(checkpoint)).toBeGreaterThan(0);
    await job.crash(bench);
    const again = await job.attempt(checkpoint);
    expect(await job.finish(again)).toEqual(upTo(20_000));
  });

  test('an unaligned checkpoint of restored records that nobody has taken yet holds them again', async () => {
    const job = new SlowJob(twoExchanges, { count: 20_000 });
    const bench = await job.attempt();
    await job.clock.advance(10 * WRITE_MS);
    const first = await bench.trigger(1);
    await job.clock.advance(2 * WRITE_MS);
    await job.crash(bench);
    const again = await job.attempt(first);
    const second = await again.trigger(2);
    await job.clock.advance(3 * WRITE_MS);
    expect(second.isComplete).toBe(true);
    expect(countInFlight(second)).toBeGreaterThanOrEqual(countInFlight(first) - 3 * BATCH_SIZE);
    await job.crash(again);
    expect(await job.finish(await job.attempt(second))).toEqual(upTo(20_000));
  });

  test.each([0, 1, 2, 3, 5, 8, 13])(
    'alternates with savepoints and aborted checkpoints, crash after %d',
    async (crashAt) => {
      const job = new SlowJob(twoExchanges, { count: 30_000 });
      let bench = await job.attempt();
      let newest: TakenCheckpoint | undefined;
      for (let id = 1; id <= 16; id++) {
        await job.clock.advance(WRITE_MS);
        const isSavepoint = id % 3 === 0;
        const checkpoint = await bench.trigger(id, undefined, isSavepoint ? 'savepoint' : undefined);
        await job.clock.advance(isSavepoint ? 30 * WRITE_MS : id % 4 === 1 ? 0 : 2 * WRITE_MS);
        if (checkpoint.isComplete) {
          if (isSavepoint) expect(checkpoint.inFlight).toEqual([]);
          newest = checkpoint;
          void bench.complete(checkpoint).catch(() => undefined);
        } else bench.abort(checkpoint);
        if (id % 14 === crashAt) {
          await job.crash(bench);
          bench = await job.attempt(newest);
        }
      }
      expect(newest).toBeDefined();
      expect(await job.finish(bench)).toEqual(upTo(30_000));
    },
  );
});

describe('an expansion that is suspended', () => {
  const FOLD = 100_000;
  const expand = flatMap(function* (n: number) {
    for (let i = 0; i < FOLD; i++) yield n * FOLD + i;
  });

  test('is finished into the output and overtaken there, however little is taken from it', async () => {
    const job = new SlowJob((s) => s.pipe(rebalance(), expand, rebalance(), passOn), { count: 1 });
    const bench = await job.attempt();
    await job.clock.advance(3 * WRITE_MS);
    expect(job.written).toBeLessThan(10 * BATCH_SIZE);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(3 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(job.written).toBeLessThan(15 * BATCH_SIZE);
    expect(countInFlight(checkpoint)).toBeGreaterThan(FOLD / 2);
    await job.crash(bench);
    const visible = await job.finish(await job.attempt(checkpoint));
    expect(visible.length).toBe(FOLD);
    expect(visible.every((n, i) => n === i)).toBe(true);
  });

  test('in the stage of the sink is held unwritten, as part of its state', async () => {
    const job = new SlowJob((s) => s.pipe(expand), { count: 1 });
    const bench = await job.attempt();
    await job.clock.advance(3 * WRITE_MS);
    const before = job.written;
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(2 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(job.written - before).toBeLessThanOrEqual(2 * BATCH_SIZE);
    // What was held is written in its place, before anything else, whether or not the job goes on.
    await job.clock.advance(5 * WRITE_MS);
    const again = await bench.trigger(2);
    await job.clock.advance(2 * WRITE_MS);
    expect(again.isComplete).toBe(true);
    expect(job.written - before).toBeLessThanOrEqual(10 * BATCH_SIZE);
    void bench.complete(checkpoint);
    void bench.complete(again);
    await job.clock.advance(WRITE_MS);
    await job.crash(bench);
    const visible = await job.finish(await job.attempt(again));
    expect(visible.length).toBe(FOLD);
    expect(visible.every((n, i) => n === i)).toBe(true);
  });

  test('in the stage of the sink is written in order where the job goes on', async () => {
    const job = new SlowJob((s) => s.pipe(expand), { count: 1 });
    const bench = await job.attempt();
    for (let id = 1; id <= 4; id++) {
      await job.clock.advance(3 * WRITE_MS);
      const checkpoint = await bench.trigger(id);
      await job.clock.advance(2 * WRITE_MS);
      void bench.complete(checkpoint);
    }
    const visible = await job.finish(bench);
    expect(visible.length).toBe(FOLD);
    expect(visible.every((n, i) => n === i)).toBe(true);
  });

  test('without end in the stage of the sink is held up to a bound, then written as ever', async () => {
    let yielded = 0;
    const job = new SlowJob(
      (s) =>
        s.pipe(
          flatMap(function* () {
            for (;;) yield yielded++;
          }),
        ),
      { count: 1 },
    );
    const bench = await job.attempt();
    await job.clock.advance(3 * WRITE_MS);
    await bench.trigger(1);
    await job.clock.advance(50 * WRITE_MS);
    expect(yielded - job.written).toBeLessThan(300 * BATCH_SIZE);
    const before = job.written;
    await job.clock.advance(50 * WRITE_MS);
    expect(job.written).toBeGreaterThan(before);
    expect(yielded - job.written).toBeLessThan(300 * BATCH_SIZE);
    await job.crash(bench);
  });

  test('an aligned barrier waits until all of it is written', async () => {
    const job = new SlowJob((s) => s.pipe(rebalance(), expand, rebalance(), passOn), {
      count: 3,
      overtakesAfter: undefined,
    });
    const bench = await job.attempt();
    await job.clock.advance(3 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(50 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(false);
    await job.crash(bench);
  });

  test('and has no end does not fill the memory: the barrier waits behind it, and records go on', async () => {
    let yielded = 0;
    const job = new SlowJob(
      (s) =>
        s.pipe(
          rebalance(),
          flatMap(function* () {
            for (;;) yield yielded++;
          }),
          rebalance(),
          passOn,
        ),
      { count: 1 },
    );
    const bench = await job.attempt();
    await job.clock.advance(3 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(50 * WRITE_MS);
    expect(checkpoint.acks.has('in#0')).toBe(true);
    expect(checkpoint.isComplete).toBe(false);
    const before = job.written;
    expect(yielded - before).toBeLessThan(300 * BATCH_SIZE);
    bench.abort(checkpoint);
    await job.clock.advance(50 * WRITE_MS);
    expect(job.written).toBeGreaterThan(before);
    await job.crash(bench);
  });
});

describe('aligned with a timeout', () => {
  const exchange = (s: Numbers): Numbers => s.pipe(rebalance(), passOn, rebalance(), passOn);

  test('overtakes once it has taken too long, from its trigger on', async () => {
    const job = new SlowJob(exchange, { overtakesAfter: 3 * WRITE_MS });
    const bench = await job.attempt();
    await job.clock.advance(50 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(3 * WRITE_MS - 1);
    expect(checkpoint.isComplete).toBe(false);
    await job.clock.advance(2 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(countInFlight(checkpoint)).toBeGreaterThan(0);
    await job.crash(bench);
  });

  test('holds nothing in flight if it is in time, and the next one starts aligned again', async () => {
    const job = new SlowJob(exchange, { overtakesAfter: 3 * WRITE_MS, count: 30_000 });
    const bench = await job.attempt();
    await job.clock.advance(10 * WRITE_MS);
    const late = await bench.trigger(1);
    await job.clock.advance(5 * WRITE_MS);
    expect(countInFlight(late)).toBeGreaterThan(0);
    void bench.complete(late);
    await job.clock.until(() => job.written === 30_000);
    const inTime = await bench.trigger(2);
    await job.clock.settle();
    expect(inTime.isComplete).toBe(true);
    expect(inTime.inFlight).toEqual([]);
    expect(await job.finish(bench)).toEqual(upTo(30_000));
  });

  test('a suspended source stage is passed as well', async () => {
    const job = new SlowJob(
      (s) =>
        s.pipe(
          flatMap(function* (n) {
            for (let i = 0; i < 20_000; i++) yield n * 20_000 + i;
          }),
          rebalance(),
          passOn,
        ),
      { overtakesAfter: 3 * WRITE_MS, count: 4 },
    );
    const bench = await job.attempt();
    await job.clock.advance(2 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(2 * WRITE_MS);
    expect(checkpoint.acks.size).toBe(0);
    await job.clock.advance(4 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    await job.crash(bench);
    expect(await job.finish(await job.attempt(checkpoint))).toEqual(upTo(80_000));
  });
});

describe('a stage with several inputs', () => {
  /** a, and b behind an operator that takes its time to prepare, meet in a join in front of a sink that is slow. */
  async function joined(
    restore?: TakenCheckpoint,
  ): Promise<{ bench: AttemptBench; clock: TickingClock; open: Deferred }> {
    const clock = new TickingClock();
    const open = deferred();
    const slow: Operator<number> = { connect: (source) => source, prepare: () => open.promise };
    const described = plan((from) => {
      const a = from(splitSource([upTo(5000)]), { uid: 'a' });
      const b = from(splitSource([upTo(5000)]), { uid: 'b' });
      const held = transform<number, 'replayable'>(
        [b],
        { name: 'slow', isStateful: true, create: () => slow },
        { uid: 's' },
      );
      a.pipe(
        keyBy((n) => n % 3),
        coProcess(held.pipe(keyBy((n) => n % 3)), {
          uid: 'join',
          onFirst: (n, _context, emit: Emit<number>) => {
            emit(n);
          },
          onSecond: (n, _context, emit) => {
            emit(n + 5000);
          },
        }),
      ).to(committingSink(outside, { onWrite: () => sleep(clock, WRITE_MS) }), { uid: 'out' });
    });
    const bench = new AttemptBench(described, {
      clock,
      overtakesAfter: 0,
      restore,
      attempt: restore === undefined ? 1 : 2,
    });
    await bench.run();
    await clock.advance(3 * WRITE_MS);
    return { bench, clock, open };
  }
  let outside = new Outside<number>();

  test('stores what one of them sends before its barrier, beside a snapshot that was taken with the barrier of another', async () => {
    outside = new Outside<number>();
    const { bench, clock, open } = await joined();
    const checkpoint = await bench.trigger(1);
    await clock.advance(20 * WRITE_MS);
    // The join has its snapshot, and goes on with what b had sent before.
    expect([...checkpoint.acks.keys()].toSorted()).toEqual(['a#0']);
    open.resolve();
    await clock.advance(2 * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(new Set(checkpoint.inFlight.map(({ edge }) => edge.producer))).toEqual(new Set(['a', 's']));
    bench.attempt.fail(new Error('crash'));
    const closed = bench.attempt.close('failed');
    await clock.advance(WRITE_MS);
    await closed;

    const again = await joined(checkpoint);
    again.open.resolve();
    let isEnded = false;
    void again.bench.attempt.allEnded.then(() => (isEnded = true));
    await again.clock.until(() => isEnded);
    const final = await again.bench.trigger(2);
    await again.clock.advance(2 * WRITE_MS);
    void again.bench.complete(final);
    await again.clock.advance(WRITE_MS);
    expect(outside.visible.toSorted((x, y) => x - y)).toEqual(upTo(10_000));
    await again.bench.attempt.close('finished');
  });

  test('forgets what was in flight of a checkpoint that is aborted before the last barrier', async () => {
    outside = new Outside<number>();
    const { bench, clock, open } = await joined();
    const aborted = await bench.trigger(1);
    await clock.advance(5 * WRITE_MS);
    bench.abort(aborted);
    await clock.advance(5 * WRITE_MS);
    open.resolve();
    await clock.advance(5 * WRITE_MS);
    expect(aborted.acks.has('join#0')).toBe(false);
    const next = await bench.trigger(2);
    await clock.advance(2 * WRITE_MS);
    expect(next.isComplete).toBe(true);
    bench.attempt.fail(new Error('enough'));
    const closed = bench.attempt.close('failed');
    await clock.advance(WRITE_MS);
    await closed;
  });
});

describe('edges on which barriers wait their turn', () => {
  test('testForceAlignedCheckpointResultingInPriorityEvents: what is forced into line overtakes again behind the subtask', async () => {
    // Both inputs of the union go forward, one to one; the exchange behind it is free.
    const job = new SlowJob(
      (s) =>
        s.pipe(
          union(s),
          map((n) => n),
          rebalance(),
          passOn,
        ),
      { count: 5000 },
    );
    const bench = await job.attempt();
    await job.clock.advance(3 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.until(() => checkpoint.isComplete);
    expect(new Set(checkpoint.inFlight.map(({ edge }) => edge.consumer))).toEqual(new Set(['map-2']));
    await job.crash(bench);
    const visible = await job.finish(await job.attempt(checkpoint));
    expect(visible.toSorted((a, b) => a - b)).toEqual(upTo(5000).flatMap((n) => [n, n]));
  });
});

describe('a record that cannot be stored', () => {
  test('costs the checkpoint, not the job', async () => {
    const job = new SlowJob(
      (s) =>
        s.pipe(
          rebalance(),
          map((n) => ({ n, toString: () => 'a function' })),
          rebalance(),
          map(({ n }) => n),
        ),
      { count: 10_000 },
    );
    const bench = await job.attempt();
    await job.clock.advance(5 * WRITE_MS);
    const checkpoint = await bench.trigger(1);
    await job.clock.advance(2 * WRITE_MS);
    const [decline] = checkpoint.declines;
    expect(decline).toMatchObject({ reason: 'CHECKPOINT_ASYNC_EXCEPTION' });
    expect(String(decline?.error)).toMatch(/records in flight from map-\d/);
    bench.abort(checkpoint);
    expect(await job.finish(bench)).toEqual(upTo(10_000));
  });
});

describe('a keyed count behind a slow sink', () => {
  test.each<[number, readonly number[]]>([
    [0, [3]],
    [4 * WRITE_MS, [3]],
    [0, [2, 3, 1, 4]],
    [4 * WRITE_MS, [1, 4, 3]],
  ])(
    'is exact after crashes at any checkpoint, overtaking after %d ms, at parallelism %j by turns',
    async (overtakesAfter, parallelisms) => {
      const counted = (s: Stream<number, 'replayable'>): Numbers =>
        s.pipe(
          keyBy((n) => n % 10),
          keyedProcess({
            uid: 'count',
            state: { count: valueState({ initial: () => 0 }) },
            onRecord(_n, { key, state }, emit: Emit<number>) {
              state.count.update(state.count.value() + 1);
              emit(state.count.value() * 10 + key);
            },
          }),
          rebalance(),
          passOn,
        );
      const job = new SlowJob(counted, {
        count: 12_000,
        overtakesAfter,
      });
      let newest: TakenCheckpoint | undefined;
      let flying = 0;
      for (let id = 1; id <= 5; id++) {
        const bench = await job.attempt(newest, parallelisms[id % parallelisms.length]);
        await job.clock.advance(2 * WRITE_MS);
        const checkpoint = await bench.trigger(id);
        await job.clock.advance(8 * WRITE_MS);
        expect(checkpoint.isComplete).toBe(true);
        flying += countInFlight(checkpoint);
        newest = checkpoint;
        await job.crash(bench);
      }
      expect(flying).toBeGreaterThan(0);
      const visible = await job.finish(await job.attempt(newest));
      const expected = upTo(12_000).map((n) => (Math.floor(n / 10) + 1) * 10 + (n % 10));
      expect(visible.toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
    },
  );
});
