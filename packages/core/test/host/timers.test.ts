import { tap, type Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { StreamElement } from '../../src/element/element.js';
import { keyBy, keyedProcess, transform, union, withTimestamps, type Emit, type Stream } from '../../src/operators.js';
import { AttemptBench, plan, type Describe, type TakenCheckpoint } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred } from '../support/deferred.js';
import { quietSource } from '../support/quiet-source.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';
import { tapSource } from '../support/tap-source.js';
import { TickingClock } from '../support/ticking-clock.js';

type Words = Stream<string, 'replayable'>;

/** Calls each word back a second after it came, and again after what `again` says. */
const delayed =
  (again: (word: string) => number | undefined = () => undefined) =>
  (s: Words): Words =>
    s.pipe(
      keyBy((word) => word),
      keyedProcess({
        uid: 'delayed',
        onRecord(_word, { timers }, _emit: Emit<string>) {
          timers.registerProcessingTime(timers.now() + 1000);
        },
        onTimer(time, { key, timers }, emit) {
          emit(`${key} ${String(time)}`);
          const more = again(key);
          if (more !== undefined) timers.registerProcessingTime(time + more);
        },
      }),
    );
/** Passes everything on and keeps what it was. */
const watched =
  (seen: StreamElement<unknown>[]) =>
  <T>(s: Stream<T, 'replayable'>): Stream<T, 'replayable'> =>
    transform<T, 'replayable'>([s], {
      name: 'watched',
      isStateful: false,
      create: () => ({
        connect: (source: Observable<StreamElement<T>>) => source.pipe(tap((element) => seen.push(element))),
      }),
    });

const started = async (describeJob: Describe, clock = new TickingClock(), parallelism = 1): Promise<Running> => {
  const bench = new AttemptBench(plan(describeJob, parallelism), { clock });
  await bench.run();
  await clock.settle();
  return { bench, clock };
};
interface Running {
  readonly bench: AttemptBench;
  readonly clock: TickingClock;
}
/** A timer that is due has its turn like everything else, though there is always something else. */
class FairClock extends TickingClock {
  override timer(delayMs: number, action: () => void): () => void {
    return delayMs <= 0 ? this.nextTurn(action) : super.timer(delayMs, action);
  }
}
/** Lets everything happen that `promise` waits for. */
async function settled(clock: TickingClock, promise: Promise<unknown>): Promise<void> {
  let isSettled = false;
  const done = promise.finally(() => {
    isSettled = true;
  });
  await clock.until(() => isSettled);
  await done;
}
async function checkpoint({ bench, clock }: Running, id: number): Promise<TakenCheckpoint> {
  const taken = await bench.trigger(id);
  await clock.until(() => taken.isComplete);
  await settled(clock, bench.complete(taken));
  return taken;
}

describe('timers of the clock', () => {
  test('are called once their time has come, over a crash and a restore, each once', async () => {
    const clock = new TickingClock();
    const outside = new Outside<string>();
    const described = plan((from) => {
      from(quietSource(['a', 'b']), { uid: 'in' })
        .pipe(delayed((word) => (word === 'a' ? 500 : undefined)))
        .to(committingSink(outside), { uid: 'out' });
    });
    const first = new AttemptBench(described, { clock });
    await settled(clock, first.run());
    await clock.advance(400);
    const restore = await checkpoint({ bench: first, clock }, 1);
    await clock.advance(700);
    first.attempt.fail(new Error('crash'));
    await settled(clock, first.attempt.close('failed'));
    expect(outside.visible).toEqual([]);

    const second = new AttemptBench(described, { clock, attempt: 2, restore });
    await settled(clock, second.run());
    await clock.advance(600);
    await checkpoint({ bench: second, clock }, 2);
    expect(outside.visible).toEqual(['a 1000', 'b 1000', 'a 1500']);
    await settled(clock, second.attempt.close('cancelled'));
    expect(clock.pendingTimers).toBe(0);
  });

  test('that fell due during the downtime are called after the restore, in the order of their times (ST-04)', async () => {
    const clock = new TickingClock();
    const written: string[] = [];
    const described = plan((from) => {
      from(quietSource(['c', 'a', 'b']), { uid: 'in' })
        .pipe(
          keyBy((word) => word),
          keyedProcess({
            uid: 'delayed',
            open: () => void written.push('open'),
            onRecord(word, { timers }, _emit: Emit<string>) {
              timers.registerProcessingTime(timers.now() + ({ a: 3000, b: 1000, c: 2000 }[word] ?? 0));
            },
            onTimer(_time, { key }, emit) {
              emit(key);
            },
          }),
        )
        .to(
          slowSink(written, () => false),
          { uid: 'out' },
        );
    });
    const first = new AttemptBench(described, { clock });
    await settled(clock, first.run());
    await clock.settle();
    const restore = await checkpoint({ bench: first, clock }, 1);
    first.attempt.fail(new Error('crash'));
    await settled(clock, first.attempt.close('failed'));
    await clock.advance(5000);
    const second = new AttemptBench(described, { clock, attempt: 2, restore });
    await settled(clock, second.attempt.open());
    await clock.settle();
    expect(written.splice(0)).toEqual(['open', 'open']);
    second.attempt.start();
    await clock.settle();
    expect(written).toEqual(['b', 'c', 'a']);
    await settled(clock, second.attempt.close('cancelled'));
  });

  test('are not called between two steps of a snapshot', async () => {
    const prepared = deferred();
    const outside = new Outside<string>();
    let isPreparing = false;
    const { bench, clock } = await started((from) => {
      from(quietSource(['a']), { uid: 'in' })
        .pipe(delayed())
        .to(
          committingSink(outside, {
            onPrepare: () => {
              isPreparing = true;
              return prepared.promise;
            },
          }),
          { uid: 'out' },
        );
    });
    const taken = await bench.trigger(1);
    await clock.until(() => isPreparing);
    await clock.advance(2000);
    prepared.resolve();
    await clock.until(() => taken.isComplete);
    await settled(clock, bench.complete(taken));
    // Had it been called, its record would be behind what the sink has prepared and its timer gone from the snapshot: lost after a crash.
    expect(outside.visible).toEqual([]);
    await checkpoint({ bench, clock }, 2);
    expect(outside.visible).toEqual(['a 1000']);
    await settled(clock, bench.attempt.close('cancelled'));
  });

  test('wait while the output takes nothing', async () => {
    let isHeld = true;
    const held = deferred();
    const called: string[] = [];
    const { bench, clock } = await started((from) => {
      from(quietSource(['a']), { uid: 'in' })
        .pipe(
          keyBy((word) => word),
          keyedProcess({
            uid: 'keyed',
            onRecord(word, { timers }, emit: Emit<string>) {
              timers.registerProcessingTime(timers.now() + 1000);
              emit(word);
            },
            onTimer(_time, { key }) {
              called.push(key);
            },
          }),
        )
        .to(
          {
            grade: 'at-least-once',
            open: () => ({ write: () => (isHeld ? held.promise : undefined), close: () => undefined }),
          },
          { uid: 'out' },
        );
    });
    await clock.advance(2000);
    expect(called).toEqual([]);
    isHeld = false;
    held.resolve();
    await clock.settle();
    expect(called).toEqual(['a']);
    await settled(clock, bench.attempt.close('cancelled'));
  });

  test('have their turn although the source never pauses', async () => {
    let called = 0;
    let read = 0;
    const clock = new FairClock(0.05);
    const described = plan((from) => {
      const numbers = Array.from({ length: 200_000 }, (_, i) => i);
      from(splitSource([numbers], { polls: () => ({ count: 100, isAsync: false }) }), { uid: 'in' })
        .pipe(
          keyBy(() => 'one'),
          keyedProcess({
            uid: 'keyed',
            onRecord(n, { timers }, _emit: Emit<never>) {
              if (n === 0) timers.registerProcessingTime(timers.now());
              read = n;
            },
            onTimer() {
              called = read;
            },
          }),
        )
        .to(
          slowSink<never>([], () => false),
          { uid: 'out' },
        );
    });
    const bench = new AttemptBench(described, { clock });
    await settled(clock, bench.run());
    await clock.until(() => called > 0);
    expect(called).toBeLessThan(20_000);
    await settled(clock, bench.attempt.close('cancelled'));
  });

  test.each(['at its end', 'because the job is drained'])(
    'that have not come when the input ends %s are not called, and are kept for a run that goes on from there',
    async (how) => {
      const written: string[] = [];
      const input = tapSource<string>('in');
      const { bench, clock } = await started((from) => {
        from(input, { uid: 'in' })
          .pipe(delayed())
          .to(
            slowSink(written, () => false),
            { uid: 'out' },
          );
      });
      input.push('a', 'b');
      if (how === 'at its end') input.end();
      await clock.settle();
      const last = await bench.trigger(1, undefined, how === 'at its end' ? undefined : 'drain');
      await clock.advance(10_000);
      expect([last.isComplete, written]).toEqual([true, []]);
      const states = [...last.acks.values()].flatMap(({ snapshot }) =>
        snapshot.operators.flatMap(({ keyed }) =>
          keyed.flatMap(({ states: stored }) => stored.map(({ name }) => name)),
        ),
      );
      // An operator that has finished for good is not opened by any later run.
      expect(states).toEqual(how === 'at its end' ? [] : ['~timers-processing']);
      await settled(clock, bench.attempt.close('finished'));
      expect(clock.pendingTimers).toBe(0);
    },
  );
});

describe('event time', () => {
  /** How many records of each key came within each ten milliseconds. */
  const windows = (s: Stream<number, 'replayable'>): Words =>
    s.pipe(
      keyBy((n) => n % 2),
      keyedProcess({
        uid: 'windows',
        onRecord(n, { timers, timestamp = -1 }, _emit: Emit<string>) {
          timers.registerEventTime(timestamp - (timestamp % 10) + 9);
        },
        onTimer(time, { key }, emit) {
          emit(`${String(key)} until ${String(time)}`);
        },
      }),
    );

  test('runs to its end where all records were seen', async () => {
    const written: string[] = [];
    const { bench } = await started(
      (from) => {
        from(splitSource([[1, 2], [25], [14]]), { uid: 'in', parallelism: 2 })
          .pipe(withTimestamps({ timestampOf: (n) => n, maxOutOfOrderness: '1 h' }), windows)
          .to(
            slowSink(written, () => false),
            { uid: 'out', parallelism: 1 },
          );
      },
      undefined,
      3,
    );
    await bench.attempt.allEnded;
    expect(written.toSorted()).toEqual(['0 until 19', '0 until 9', '1 until 29', '1 until 9']);
    await bench.attempt.close('finished');
  });

  test('is held up by a source that has nothing to say, unless that is idle', async () => {
    const outcome = async (idleAfter?: '2s'): Promise<readonly string[]> => {
      const written: string[] = [];
      const times = { timestampOf: (n: number) => n, idleAfter, watermarkInterval: 0 } as const;
      const { bench, clock } = await started((from) => {
        const silent = from(quietSource<number>([]), { uid: 'silent' }).pipe(withTimestamps(times));
        from(quietSource([1, 12, 23], { batchSize: 1 }), { uid: 'talking' })
          .pipe(withTimestamps(times), union(silent), windows)
          .to(
            slowSink(written, () => false),
            { uid: 'out' },
          );
      });
      await clock.advance(1000);
      expect(written).toEqual([]);
      await clock.advance(10_000);
      await settled(clock, bench.attempt.close('cancelled'));
      return written;
    };
    expect(await outcome()).toEqual([]);
    expect(await outcome('2s')).toEqual(['1 until 9', '0 until 19']);
  });

  test('does not count as idle what only the output holds back', async () => {
    let isHeld = true;
    const held = deferred();
    const seen: StreamElement<unknown>[] = [];
    // Every step takes a slice of its own, so that whatever is due comes in between.
    const { bench, clock } = await started((from) => {
      from(quietSource([1, 2, 3], { batchSize: 1 }), { uid: 'in' })
        .pipe(withTimestamps({ timestampOf: (n) => n, idleAfter: '1s', watermarkInterval: 0 }), watched(seen))
        .to(
          {
            grade: 'at-least-once',
            open: () => ({ write: () => (isHeld ? held.promise : undefined), close: () => undefined }),
          },
          { uid: 'out' },
        );
    }, new FairClock(5));
    await clock.advance(10_000);
    isHeld = false;
    held.resolve();
    await clock.settle();
    expect(seen.filter(({ kind }) => kind === 'batch')).toHaveLength(3);
    expect(seen.filter(({ kind }) => kind === 'idle')).toEqual([]);
    await clock.advance(2000);
    expect(seen.at(-1)).toEqual({ kind: 'idle', idle: true });
    await settled(clock, bench.attempt.close('cancelled'));
  });
});
