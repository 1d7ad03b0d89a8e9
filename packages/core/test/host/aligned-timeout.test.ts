import { Observable, tap, type Subscriber } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { sleep, type Clock } from '../../src/contracts/clock.js';
import { batch, BATCH_SIZE, type StreamElement } from '../../src/element/element.js';
import {
  broadcast,
  filter,
  flatMap,
  iterate,
  keyBy,
  map,
  rebalance,
  scan,
  transform,
  union,
  type Operator,
  type OperatorContext,
} from '../../src/operators.js';
import type { Stream } from '../../src/graph/stream.js';
import { AttemptBench, plan, type TakenCheckpoint } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred, type Deferred } from '../support/deferred.js';
import { slowly } from '../support/slow-operator.js';
import { passOn, SlowJob, upTo, WRITE_MS, type Numbers, type SlowJobOptions } from '../support/slow-job.js';
import { splitSource } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

type Between = (s: Numbers, clock: Clock) => Numbers;

/** Ms from the trigger of a checkpoint to its last acknowledgement, in a job that has filled its channels before. */
async function duration(
  between: Between,
  overtakesAfter: number | undefined,
  options: SlowJobOptions,
): Promise<number> {
  const job: SlowJob = new SlowJob((s) => between(s, job.clock), { count: 150_000, ...options, overtakesAfter });
  const bench = await job.attempt();
  await job.clock.advance(50 * WRITE_MS);
  const checkpoint = await bench.trigger(1);
  const triggered = job.clock.now();
  await job.clock.until(() => checkpoint.isComplete);
  const took = job.clock.now() - triggered;
  await job.crash(bench);
  return took;
}

/** The barrier of one subtask is late: it is forced into line in front of it, because the source has another parallelism. */
const lateProducer =
  (ms: number): Between =>
  (s, clock) =>
    s.pipe(
      slowly(clock, (subtask) => (subtask === 0 ? ms : 0), 'late'),
      rebalance(),
      passOn,
    );
const last = scan(
  (_last: number, n: number) => n,
  () => 0,
);
const looped: Between = (s) =>
  s.pipe(
    iterate(
      (rounds: Stream<number>) => {
        const gone = rounds.pipe(
          keyBy((n: number) => n % 7),
          last,
        );
        return { feedback: gone.pipe(filter((n) => n < 0)), output: gone };
      },
      { uid: 'loop' },
    ),
    rebalance(),
    passOn,
  );

describe('a checkpoint that is aligned with a timeout takes no longer than one that overtakes at once takes after it', () => {
  test.each<[string, Between, number]>([
    ['over a change of parallelism and an exchange', (s) => s.pipe(passOn, rebalance(), passOn), 2],
    ['over several hops', (s) => s.pipe(passOn, rebalance(), passOn, rebalance(), passOn, rebalance(), passOn), 2],
    [
      'over four subtasks of each stage',
      (s) =>
        s.pipe(
          passOn,
          keyBy((n: number) => n),
          last,
          rebalance(),
          passOn,
        ),
      4,
    ],
    ['with one producer that is late by one batch', lateProducer(3 * WRITE_MS), 2],
    ['with one producer of three that is late by several batches', lateProducer(WRITE_MS), 3],
    [
      'over edges that force barriers into line',
      (s) =>
        s.pipe(
          rebalance(),
          passOn,
          union(s.pipe(rebalance(), passOn)),
          map((n) => n),
          rebalance(),
          passOn,
        ),
      2,
    ],
    ['over a broadcast', (s) => s.pipe(rebalance(), passOn, broadcast(), passOn, rebalance(), passOn), 2],
    ['over a loop', looped, 2],
    [
      'over stages that are suspended in the middle of a batch',
      (s) =>
        s.pipe(
          rebalance(),
          flatMap((n) => Array.from({ length: 20 }, () => n)),
          rebalance(),
          flatMap((n) => [n, n, n]),
          rebalance(),
          passOn,
        ),
      2,
    ],
  ])(
    '%s',
    async (_where, between, parallelism) => {
      const atOnce = await duration(between, 0, { parallelism });
      for (const timeout of [WRITE_MS / 2, 1.5 * WRITE_MS, 4 * WRITE_MS]) {
        const took = await duration(between, timeout, { parallelism });
        expect(took, `with a timeout of ${String(timeout)} ms`).toBeLessThanOrEqual(timeout + atOnce + WRITE_MS);
      }
    },
    30_000,
  );

  test('which an aligned one does not', async () => {
    const between: Between = (s) => s.pipe(passOn, rebalance(), passOn);
    const atOnce = await duration(between, 0, { parallelism: 2 });
    expect(await duration(between, undefined, { parallelism: 2 })).toBeGreaterThan(atOnce + 3 * WRITE_MS);
  });
});

describe('a timeout between the barriers of two inputs', () => {
  const TIMEOUT = 3 * WRITE_MS;

  interface TwoInputs {
    readonly bench: AttemptBench;
    readonly clock: TickingClock;
    /** Lets the records of the late input go on. */
    readonly records: Deferred;
    /** Lets its barrier go on. */
    readonly barrier: Deferred;
    readonly outside: Outside<number>;
    /** Calls of the sink that met another. */
    readonly met: string[];
  }

  /** What the inputs send, and go through together. */
  interface Meeting {
    /** Default: the timeout. */
    readonly overtakesAfter?: number;
    readonly a: number;
    readonly b: number;
    readonly together: (s: Numbers) => Numbers;
  }

  /** a, and b that is late, meet in front of a sink that is slow. */
  async function twoInputs(
    { a, b, together, overtakesAfter = TIMEOUT }: Meeting,
    outside = new Outside<number>(),
    restore?: TakenCheckpoint,
  ): Promise<TwoInputs> {
    const clock = new TickingClock();
    const records = deferred();
    const barrier = deferred();
    const met: string[] = [];
    let calls = 0;
    const alone = async (what: string, ms: number): Promise<void> => {
      if (++calls > 1) met.push(what);
      await sleep(clock, ms);
      calls--;
    };
    const late = ({ flow }: OperatorContext): Operator<number, number> => ({
      connect: (source) =>
        source.pipe(
          tap(({ kind }) => {
            if (kind === 'batch') flow.waitFor(records.promise);
          }),
        ),
      prepare: () => barrier.promise,
    });
    const described = plan((from) => {
      const prompt = from(splitSource([upTo(a)]), { uid: 'a' }).pipe(rebalance());
      const input = from(splitSource([upTo(b).map((n) => n + a)]), { uid: 'b' }).pipe(rebalance());
      const delayed = transform<number, 'replayable'>([input], { name: 'late', isStateful: false, create: late });
      prompt.pipe(union(delayed.pipe(rebalance())), together).to(
        committingSink(outside, {
          onWrite: () => alone('write', WRITE_MS),
          onPrepare: () => alone('prepareCommit', 1),
        }),
        { uid: 'out' },
      );
    });
    const attempt = restore === undefined ? 1 : 2;
    const bench = new AttemptBench(described, { clock, overtakesAfter, restore, attempt });
    await bench.run();
    return { bench, clock, records, barrier, outside, met };
  }

  /** What has become visible when another attempt has gone on from the checkpoint to its end. */
  async function restored(meeting: Meeting, job: TwoInputs, checkpoint: TakenCheckpoint): Promise<readonly number[]> {
    job.bench.attempt.fail(new Error('crash'));
    await settled(job, job.bench.attempt.close('failed'));
    const again = await twoInputs(meeting, job.outside, checkpoint);
    const { bench, clock } = again;
    again.records.resolve();
    again.barrier.resolve();
    await settled(again, bench.attempt.allEnded);
    const final = await bench.trigger(99);
    await clock.until(() => final.isComplete);
    await settled(again, bench.complete(final));
    return job.outside.visible.toSorted((x, y) => x - y);
  }

  async function settled({ clock }: TwoInputs, promise: Promise<void>): Promise<void> {
    let isSettled = false;
    void promise.then(() => (isSettled = true));
    await clock.until(() => isSettled);
  }

  test('calls no sink while it writes', async () => {
    const meeting: Meeting = { a: 1, b: 10 * BATCH_SIZE, together: (s) => s };
    const job = await twoInputs(meeting);
    job.records.resolve();
    await job.clock.advance(1.5 * WRITE_MS);
    const checkpoint = await job.bench.trigger(1);
    await job.clock.advance(TIMEOUT + WRITE_MS);
    job.barrier.resolve();
    await job.clock.until(() => checkpoint.isComplete);
    expect(job.met).toEqual([]);
    expect(await restored(meeting, job, checkpoint)).toEqual(upTo(1 + 10 * BATCH_SIZE));
  });

  test('passes a stage that is suspended in the middle of a record', async () => {
    const FOLD = 200;
    const meeting: Meeting = {
      a: 1,
      b: 199,
      together: (s) =>
        s.pipe(
          flatMap(function* (n: number) {
            for (let i = 0; i < FOLD; i++) yield n * FOLD + i;
          }),
          rebalance(),
          passOn,
        ),
    };
    const job = await twoInputs(meeting);
    job.records.resolve();
    await job.clock.advance(3 * WRITE_MS);
    const checkpoint = await job.bench.trigger(1);
    await job.clock.advance(TIMEOUT + 2 * WRITE_MS);
    // Of the sources, and behind the stage that still waits for a barrier.
    expect(checkpoint.acks.size).toBe(3);
    job.barrier.resolve();
    await job.clock.advance(WRITE_MS);
    expect(checkpoint.isComplete).toBe(true);
    expect(await restored(meeting, job, checkpoint)).toEqual(upTo(200 * FOLD));
  });

  /** Both inputs send one record, and the stage where they meet one more once it may finish. */
  function finishing(overtakesAfter: number): { readonly meeting: Meeting; readonly mayFinish: Deferred } {
    const mayFinish = deferred();
    const create = (): Operator<number, number> => {
      let output: Subscriber<StreamElement<number>> | undefined;
      return {
        connect: (source: Observable<StreamElement<number>>) =>
          new Observable((target) => {
            output = target;
            return source.subscribe(target);
          }),
        finish: async () => {
          await mayFinish.promise;
          output?.next(batch([-1]));
        },
      };
    };
    const together = (s: Numbers): Numbers =>
      transform<number, 'replayable'>([s], { name: 'last', isStateful: false, create });
    return { meeting: { a: 1, b: 1, overtakesAfter, together }, mayFinish };
  }

  test('waits for a stage that finishes, whose last records are in front of the barrier', async () => {
    const { meeting, mayFinish } = finishing(TIMEOUT);
    const job = await twoInputs(meeting);
    await job.clock.advance(3 * WRITE_MS);
    const checkpoint = await job.bench.trigger(1);
    await job.clock.settle();
    // The stage has one barrier, and all that it will ever be sent.
    job.records.resolve();
    await job.clock.advance(TIMEOUT + WRITE_MS);
    mayFinish.resolve();
    job.barrier.resolve();
    await job.clock.until(() => checkpoint.isComplete);
    expect(await restored(meeting, job, checkpoint)).toEqual([-1, 0, 1]);
  });

  test.each([0, TIMEOUT])(
    'and barriers that come while a stage finishes leave its last records in front of them: %d ms',
    async (overtakesAfter) => {
      const { meeting, mayFinish } = finishing(overtakesAfter);
      const job = await twoInputs(meeting);
      job.records.resolve();
      job.barrier.resolve();
      await job.clock.advance(3 * WRITE_MS);
      const checkpoint = await job.bench.trigger(1);
      await job.clock.advance(TIMEOUT + WRITE_MS);
      mayFinish.resolve();
      await job.clock.until(() => checkpoint.isComplete);
      expect(await restored(meeting, job, checkpoint)).toEqual([-1, 0, 1]);
    },
  );
});

describe('a stage that emits while it prepares', () => {
  const FOLD = 30 * BATCH_SIZE;
  /** Emits one record before each barrier, which becomes many, more than channels take. */
  const emitting = (s: Numbers): Numbers =>
    transform<number, 'replayable'>([s], {
      name: 'emitting',
      isStateful: false,
      create: () => {
        let output: Subscriber<StreamElement<number>> | undefined;
        return {
          connect: (source: Observable<StreamElement<number>>) =>
            new Observable((target) => {
              output = target;
              return source.subscribe(target);
            }),
          prepare: () => {
            output?.next(batch([-1]));
          },
        };
      },
    }).pipe(
      flatMap((n) => (n < 0 ? upTo(FOLD) : [n])),
      rebalance(),
      passOn,
    );

  test.each([0, WRITE_MS, 5 * WRITE_MS])('does not hold back a barrier that may overtake, after %d ms', async (ms) => {
    const options = { count: 10, parallelism: 2 };
    expect(await duration(emitting, ms, options)).toBeLessThanOrEqual(ms + 3 * WRITE_MS);
    expect(await duration(emitting, undefined, options)).toBeGreaterThan(20 * WRITE_MS);
  });
});
