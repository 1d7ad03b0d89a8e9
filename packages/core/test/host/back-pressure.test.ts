import { describe, expect, test } from 'vitest';
import { sleep } from '../../src/contracts/clock.js';
import type { SourceReader } from '../../src/contracts/source.js';
import { CHANNEL_CAPACITY } from '../../src/channel/channel.js';
import { BATCH_SIZE } from '../../src/element/element.js';
import {
  flatMap,
  keyBy,
  keyedProcess,
  map,
  rebalance,
  rx,
  union,
  type Emit,
  type Stream,
} from '../../src/operators.js';
import { mergeMap, range } from 'rxjs';
import { AttemptBench, plan } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred } from '../support/deferred.js';
import { splitSource } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

type Numbers = Stream<number, 'replayable'>;
const WRITE_MS = 10;

/** An endless source in front of a sink that takes its time, and how far apart they are. */
async function overrun(
  between: (s: Numbers) => Numbers,
  options: { readonly perRecord?: number; readonly parallelism?: number } = {},
): Promise<{ bench: AttemptBench; clock: TickingClock; count: { read: number; written: number; most: number } }> {
  const { perRecord = 1, parallelism = 1 } = options;
  const clock = new TickingClock();
  const count = { read: 0, written: 0, most: 0 };
  const endless = Array.from({ length: 2_000_000 }, (_, i) => i);
  const described = plan((from) => {
    const onReader = (_split: string, reader: SourceReader<number>): SourceReader<number> => ({
      ...reader,
      poll(max) {
        const records = reader.poll(max) as readonly number[];
        count.read += records.length;
        count.most = Math.max(count.most, count.read * perRecord - count.written);
        return records;
      },
    });
    const onWrite = async (batch: readonly number[]): Promise<void> => {
      await sleep(clock, WRITE_MS);
      count.written += batch.length;
    };
    from(splitSource([endless], { onReader }), { uid: 'in', parallelism: 1 })
      .pipe(between)
      .to(committingSink(new Outside<number>(), { onWrite }), { uid: 'out' });
  }, parallelism);
  const bench = new AttemptBench(described, { clock });
  await bench.run();
  return { bench, clock, count };
}

const passOn = map((n: number) => n);
/** What may be on its way over one exchange: a full channel, the batch that filled it, what was sorted already, and the batch that is written. */
const PER_EXCHANGE = CHANNEL_CAPACITY + 3 * BATCH_SIZE;

describe('a sink that is slower than its source', () => {
  test.each<[string, (s: Numbers) => Numbers, number, { perRecord?: number; parallelism?: number }]>([
    ['in one stage', (s) => s.pipe(passOn), 2 * BATCH_SIZE, {}],
    ['behind an exchange', (s) => s.pipe(rebalance(), passOn), PER_EXCHANGE, {}],
    ['behind two exchanges', (s) => s.pipe(rebalance(), passOn, rebalance(), passOn), 2 * PER_EXCHANGE, {}],
    [
      'behind a key, in four subtasks',
      (s) =>
        s.pipe(
          keyBy((n) => n),
          keyedProcess({
            onRecord: (n, _context, emit: Emit<number>) => {
              emit(n);
            },
          }),
        ),
      4 * PER_EXCHANGE,
      { parallelism: 4 },
    ],
    [
      'behind an RxJS expansion of each record',
      (s) => s.pipe(rx(mergeMap((n) => range(n, 3)))),
      6 * BATCH_SIZE,
      { perRecord: 3 },
    ],
  ])('holds it back after a bounded number of records: %s', async (_where, between, bound, options) => {
    const { bench, clock, count } = await overrun(between, options);
    await clock.advance(50 * WRITE_MS);
    const { most } = count;
    expect(count.written).toBeGreaterThan(10 * BATCH_SIZE);
    expect(most).toBeLessThanOrEqual(bound);
    // And it is no matter of time.
    await clock.advance(50 * WRITE_MS);
    expect(count.most).toBeLessThanOrEqual(bound);
    bench.attempt.fail(new Error('enough'));
    const closed = bench.attempt.close('failed');
    await clock.advance(WRITE_MS);
    await closed;
  });

  test('takes no more out of an iterable than it can write', async () => {
    let yielded = 0;
    const { bench, clock, count } = await overrun((s) =>
      s.pipe(
        flatMap(function* (n) {
          for (;;) {
            yielded++;
            yield n;
          }
        }),
      ),
    );
    await clock.advance(50 * WRITE_MS);
    expect(count.written).toBeGreaterThan(10 * BATCH_SIZE);
    expect(yielded - count.written).toBeLessThanOrEqual(2 * BATCH_SIZE);
    bench.attempt.fail(new Error('enough'));
    const closed = bench.attempt.close('failed');
    await clock.advance(WRITE_MS);
    await closed;
  });

  test('lets barriers pass as soon as what is in front of them is written', async () => {
    const { bench, clock, count } = await overrun((s) => s.pipe(rebalance(), passOn, rebalance(), passOn));
    await clock.advance(50 * WRITE_MS);
    const inFront = count.read - count.written;
    const checkpoint = await bench.trigger(1);
    await clock.advance((inFront / BATCH_SIZE + 8) * WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(inFront).toBeGreaterThan(BATCH_SIZE);
    bench.attempt.fail(new Error('enough'));
    const closed = bench.attempt.close('failed');
    await clock.advance(WRITE_MS);
    await closed;
  });
});

test('a barrier that no record is in front of passes a stage whose output is full', async () => {
  const clock = new TickingClock();
  const written = deferred();
  // The sink takes one batch and sticks. What is left is more than a channel holds, but all of it is behind the stage in the middle.
  const records = Array.from({ length: CHANNEL_CAPACITY + 500 }, (_, i) => i);
  const described = plan((from) => {
    from(splitSource([records]), { uid: 'in' })
      .pipe(rebalance(), passOn, rebalance())
      .to(committingSink(new Outside<number>(), { onWrite: () => written.promise }), { uid: 'out' });
  });
  const bench = new AttemptBench(described, { clock });
  await bench.run();
  await clock.settle();
  const checkpoint = await bench.trigger(1);
  await clock.settle();
  expect([...checkpoint.acks.keys()].toSorted()).toEqual(['in#0', 'map-1#0']);
  written.resolve();
  await clock.settle();
  expect(checkpoint.isComplete).toBe(true);
  bench.attempt.fail(new Error('enough'));
  await bench.attempt.close('failed');
});

describe('an input that waits for the barrier of another', () => {
  test('is held back after a bounded number of records, and goes on when the checkpoint is given up', async () => {
    const clock = new TickingClock();
    let read = 0;
    const described = plan((from) => {
      const fast = from(
        splitSource([Array.from({ length: 200_000 }, (_, i) => i)], {
          onReader: (_split, reader) => ({
            ...reader,
            poll: (max) => {
              const records = reader.poll(max) as readonly number[];
              read += records === ('end' as unknown) ? 0 : records.length;
              return records;
            },
          }),
        }),
        { uid: 'fast' },
      );
      // Does not even take the barrier: its one record is expanded without end, and nothing of it is wanted.
      const stuck = from(splitSource([[0]]), { uid: 'stuck' }).pipe(
        flatMap(function* () {
          for (;;) yield -1;
        }),
      );
      fast.pipe(union(stuck)).to(
        committingSink(new Outside<number>(), {
          onWrite: (batch) => (batch.includes(-1) ? sleep(clock, 1) : undefined),
        }),
        { uid: 'out' },
      );
    });
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    await clock.advance(20);
    const checkpoint = await bench.trigger(1);
    await clock.advance(10);
    const before = read;
    await clock.advance(1000);
    expect(read - before).toBeLessThanOrEqual(CHANNEL_CAPACITY + BATCH_SIZE);
    expect(read).toBeLessThan(200_000);
    expect(checkpoint.acks.has('out#0')).toBe(false);
    bench.abort(checkpoint);
    await clock.advance(1000);
    expect(read).toBe(200_000);
    bench.attempt.fail(new Error('enough'));
    const closed = bench.attempt.close('failed');
    await clock.advance(10);
    await closed;
  });
});

describe('a source that always has more', () => {
  test.each([1, 3])('starves neither timers nor turns of the event loop, at parallelism %d', async (parallelism) => {
    const clock = new TickingClock(0.002);
    const described = plan((from) => {
      from(splitSource(Array.from({ length: 3 }, () => Array.from({ length: 300_000 }, (_, i) => i))), { uid: 'in' })
        .pipe(rebalance(), passOn)
        .to(committingSink(new Outside<number>()), { uid: 'out' });
    }, parallelism);
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    let turns = 0;
    let longest = 0;
    let before = clock.monotonic();
    let isOver = false;
    const tick = (): void => {
      longest = Math.max(longest, clock.monotonic() - before);
      before = clock.monotonic();
      turns++;
      if (!isOver) clock.nextTurn(tick);
    };
    clock.nextTurn(tick);
    await clock.until(() => turns > 50);
    isOver = true;
    expect(longest).toBeLessThan(10);
    bench.attempt.fail(new Error('enough'));
    await bench.attempt.close('failed');
  });

  test('one record per poll and 10,000 polls is no more than a slow source', async () => {
    const clock = new TickingClock(0.001);
    const outside = new Outside<number>();
    const described = plan((from) => {
      from(splitSource([Array.from({ length: 10_000 }, (_, i) => i)], { polls: () => ({ count: 1, isAsync: false }) }))
        .pipe(rebalance(), passOn)
        .to(committingSink(outside), { uid: 'out' });
    });
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    await clock.settle();
    await bench.attempt.allEnded;
    const checkpoint = await bench.trigger(1);
    await clock.settle();
    const told = bench.complete(checkpoint);
    await clock.settle();
    await told;
    expect(outside.visible).toHaveLength(10_000);
    await bench.attempt.close('finished');
  });

  test('may have thousands of splits', async () => {
    const clock = new TickingClock(0.001);
    const outside = new Outside<number>();
    const described = plan((from) => {
      from(splitSource(Array.from({ length: 3000 }, (_, i) => (i % 3 === 0 ? [] : [i])))).to(committingSink(outside), {
        uid: 'out',
      });
    }, 3);
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    const early = await bench.trigger(1);
    await clock.settle();
    expect(early.isComplete).toBe(true);
    await bench.attempt.allEnded;
    const final = await bench.trigger(2);
    await clock.settle();
    const told = bench.complete(final);
    await clock.settle();
    await told;
    expect(new Set(outside.visible).size).toBe(2000);
    expect(outside.visible).toHaveLength(2000);
    await bench.attempt.close('finished');
  });
});
