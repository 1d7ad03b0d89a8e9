import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { nextTurn } from '../../src/contracts/clock.js';
import { batch, type StreamElement } from '../../src/element/element.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { readChannelState } from '../../src/snapshot/channel-state.js';
import {
  filter,
  flatMap,
  iterate,
  keyBy,
  keyedProcess,
  listState,
  map,
  perBatch,
  rebalance,
  tap,
  transform,
  union,
  valueState,
  withTimestamps,
  type Emit,
  type Stream,
} from '../../src/operators.js';
import { AttemptBench, plan, type TakenCheckpoint } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { runThrough, type Incident } from '../support/crashing-run.js';
import { MemoryTemporaryFiles } from '../support/memory-temporary-files.js';
import { splitSource, type Poll } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

type Numbers = Stream<number>;
/** `called`: by a timer. */
interface Step {
  readonly n: number;
  readonly place: 'outside' | 'called' | 'leaving';
}
const numbers = (count: number, first = 0): number[] => Array.from({ length: count }, (_, i) => first + i);
const few = (): Poll => ({ count: 1, isAsync: true });

/** Counts each number down to zero, one per round, and lets the zeros out. */
const countdown = (between: (s: Numbers) => Numbers = (s) => s) =>
  iterate<number, number>(
    (input) => {
      const round = input.pipe(
        between,
        map((n) => n - 1),
      );
      return { feedback: round.pipe(filter((n) => n > 0)), output: round.pipe(filter((n) => n <= 0)) };
    },
    { uid: 'loop' },
  );

async function finish(bench: AttemptBench, clock: TickingClock): Promise<TakenCheckpoint> {
  let ended = false;
  void bench.attempt.allEnded.then(() => (ended = true));
  await clock.until(() => ended);
  const final = await bench.trigger(1000);
  await clock.until(() => final.isComplete);
  let committed = false;
  void bench.complete(final).then(() => (committed = true));
  await clock.until(() => committed);
  return final;
}

describe('a loop of a finite job', () => {
  const cases: readonly [string, (s: Numbers) => Numbers, number][] = [
    ['in one stage with its body', (s) => s, 1],
    [
      'over an exchange',
      (s) =>
        s.pipe(
          rebalance(),
          map((n) => n),
        ),
      1,
    ],
    ['in three subtasks', (s) => s, 3],
    [
      'in three subtasks over two exchanges',
      (s) =>
        s.pipe(
          rebalance(),
          map((n) => n),
          rebalance(),
          map((n) => n),
        ),
      3,
    ],
  ];
  test.each(cases)(
    'ends when its input has ended and nothing goes round any more: %s',
    async (_where, between, parallelism) => {
      const clock = new TickingClock();
      const outside = new Outside<number>();
      const described = plan((from) => {
        from(splitSource([numbers(20), numbers(5, 50)], { polls: few }), { uid: 'in' })
          .pipe(countdown(between))
          .to(committingSink(outside), { uid: 'out' });
      }, parallelism);
      const bench = new AttemptBench(described, { clock });
      await bench.run();
      const final = await finish(bench, clock);
      // 0 and 1 leave in the first round.
      expect(outside.visible.toSorted((a, b) => a - b)).toEqual([-1, ...numbers(24).map(() => 0)]);
      for (const { snapshot } of final.acks.values())
        for (const { channels = [] } of snapshot.operators) expect(channels).toEqual([]);
      await bench.attempt.close('finished');
    },
  );

  test('does not end while something outside of it still feeds its body', async () => {
    const clock = new TickingClock();
    const outside = new Outside<number>();
    const described = plan((from) => {
      const late = from(
        splitSource([[7]], {
          onOpen: async () => {
            for (let turn = 0; turn < 200; turn++) await nextTurn(clock);
          },
        }),
        { uid: 'late' },
      );
      from(splitSource([[3]]), { uid: 'in' })
        .pipe(
          countdown((s) =>
            s.pipe(
              union(late),
              map((n) => n),
            ),
          ),
        )
        .to(committingSink(outside), { uid: 'out' });
    });
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    await finish(bench, clock);
    expect(outside.visible).toEqual([0, 0]);
    await bench.attempt.close('finished');
  });

  test('does not end while an operator in its body waits for a promise', async () => {
    const clock = new TickingClock();
    const outside = new Outside<number>();
    const waiting = (s: Numbers): Numbers =>
      transform<number, Numbers['~grade']>([s], {
        name: 'waiting',
        isStateful: false,
        create: (context) => ({
          connect: (source) =>
            source.pipe(
              perBatch<number, number>(context, (batch, target) => {
                const turns = async (): Promise<void> => {
                  for (let turn = 0; turn < 50; turn++) await nextTurn(clock);
                };
                context.flow.waitFor(turns());
                context.flow.suspend(() => {
                  target.next(batch);
                });
              }),
            ),
        }),
      });
    const described = plan((from) => {
      from(splitSource([[3, 4]]), { uid: 'in' })
        .pipe(countdown((s) => s.pipe(rebalance(), waiting)))
        .to(committingSink(outside), { uid: 'out' });
    });
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    await finish(bench, clock);
    expect(outside.visible).toEqual([0, 0]);
    await bench.attempt.close('finished');
  });

  test.each([1, 3])(
    'has the last watermark wait until nothing goes round, and what timers then emit goes round as well (parallelism %i)',
    async (parallelism) => {
      const clock = new TickingClock();
      const outside = new Outside<number>();
      const late: Step[] = [];
      const described = plan((from) => {
        from(splitSource([[30, 31, 32, 33]], { polls: few }), { uid: 'in' })
          .pipe(
            withTimestamps({ timestampOf: (n) => n, maxOutOfOrderness: 0, watermarkInterval: 0 }),
            map((n): Step => ({ n, place: 'outside' })),
            iterate<Step, number>(
              (input) => {
                const round = input.pipe(
                  keyBy(({ n }) => n % 10),
                  keyedProcess({
                    uid: 'body',
                    state: { waiting: listState<Step>() },
                    onRecord(step, { state, timers }, emit: Emit<Step>) {
                      if (step.place === 'called') emit({ ...step, place: 'leaving' });
                      else if (step.n >= 10) emit({ ...step, n: step.n - 10 });
                      else {
                        if (timers.currentWatermark() === Number.POSITIVE_INFINITY) late.push(step);
                        state.waiting.add(step);
                        timers.registerEventTime(1_000_000);
                      }
                    },
                    onTimer(_time, { state }, emit: Emit<Step>) {
                      for (const step of state.waiting.values()) emit({ ...step, place: 'called' });
                    },
                  }),
                );
                return {
                  feedback: round.pipe(filter(({ place }) => place !== 'leaving')),
                  output: round.pipe(
                    filter(({ place }) => place === 'leaving'),
                    map(({ n }) => n),
                  ),
                };
              },
              { uid: 'loop' },
            ),
          )
          .to(committingSink(outside), { uid: 'out' });
      }, parallelism);
      const bench = new AttemptBench(described, { clock });
      await bench.run();
      await finish(bench, clock);
      expect(late).toEqual([]);
      expect(outside.visible.toSorted()).toEqual([0, 1, 2, 3]);
      await bench.attempt.close('finished');
    },
  );

  test('fails if its body emits into the feedback when it finishes', async () => {
    const clock = new TickingClock();
    const described = plan((from) => {
      from(splitSource([[3]]), { uid: 'in' })
        .pipe(
          iterate<number, number>((input) => {
            const last = transform<number, Numbers['~grade']>([input], {
              name: 'last-words',
              isStateful: false,
              create: () => {
                const output = new Subject<StreamElement<number>>();
                return {
                  connect: () => output,
                  finish: () => {
                    output.next(batch([1]));
                  },
                };
              },
            });
            return { feedback: last, output: last };
          }),
        )
        .to(committingSink(new Outside<number>()), { uid: 'out' });
    });
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    let failure: unknown;
    bench.failed.catch((error: unknown) => (failure = error));
    await clock.until(() => failure !== undefined);
    expect(failure).toMatchObject({ code: 'FEEDBACK_AFTER_END' });
    await bench.attempt.close('failed');
  });

  test.each([1, 3])(
    'does not lock up when every round multiplies its records (parallelism %i)',
    async (parallelism) => {
      const clock = new TickingClock();
      const outside = new Outside<number>();
      const depth = 9;
      const described = plan((from) => {
        from(splitSource([numbers(5, 100)], { polls: few }), { uid: 'in' })
          .pipe(
            iterate<number, number>((input) => {
              const round = input.pipe(
                flatMap((n) => [n - 10, n - 10, n - 10]),
                rebalance(),
                map((n) => n),
              );
              return {
                feedback: round.pipe(
                  rebalance(),
                  filter((n) => n >= 110 - 10 * depth),
                ),
                output: round.pipe(filter((n) => n < 110 - 10 * depth)),
              };
            }),
          )
          .to(committingSink(outside), { uid: 'out' });
      }, parallelism);
      const bench = new AttemptBench(described, { clock });
      await bench.run();
      await finish(bench, clock);
      expect(outside.visible.length).toBe(5 * 3 ** depth);
      await bench.attempt.close('finished');
    },
  );
});

interface Large {
  readonly round: number;
  readonly text: string;
}
/** Each round makes three of each record, 7 rounds long. */
function multiplied(
  outside: Outside<number>,
  bounds: { maxBufferedRecords: number; maxFeedbackBytes?: number },
): ReturnType<typeof plan> {
  return plan((from) => {
    from(splitSource([numbers(12)]), { uid: 'in' })
      .pipe(
        map((): Large => ({ round: 0, text: 'x'.repeat(2000) })),
        iterate<Large, number>(
          (input) => {
            const rounds = input.pipe(
              rebalance(),
              flatMap(({ round, text }) => Array.from({ length: 3 }, (): Large => ({ round: round + 1, text }))),
            );
            return {
              feedback: rounds.pipe(filter(({ round }) => round < 7)),
              output: rounds.pipe(
                filter(({ round }) => round >= 7),
                map(({ round }) => round),
              ),
            };
          },
          { uid: 'loop', ...bounds },
        ),
      )
      .to(committingSink(outside), { uid: 'out' });
  }, 2);
}

describe('a loop that does not fit into memory', () => {
  test('goes on from disk, is in checkpoints, and leaves no file behind, also where an attempt has died', async () => {
    const outside = new Outside<number>();
    const described = multiplied(outside, { maxBufferedRecords: 100 });
    const files = new MemoryTemporaryFiles();
    const clock = new TickingClock(0.3);
    const bench = new AttemptBench(described, { clock, temporaryFiles: files });
    await bench.run();
    await clock.until(() => files.open > 0);
    const checkpoint = await bench.trigger(1);
    await clock.until(() => checkpoint.isComplete);
    bench.attempt.fail(new Error('crash'));
    await bench.attempt.close('failed');
    expect(files.open).toBe(0);

    const next = new AttemptBench(described, { clock, temporaryFiles: files, attempt: 2, restore: checkpoint });
    await next.run();
    await finish(next, clock);
    await next.attempt.close('finished');
    expect(outside.visible.length).toBe(12 * 3 ** 7);
    expect(files.open).toBe(0);
  });

  test('fails by name when there is more than may be on disk', async () => {
    const files = new MemoryTemporaryFiles();
    const clock = new TickingClock(0.3);
    const described = multiplied(new Outside<number>(), { maxBufferedRecords: 100, maxFeedbackBytes: 100_000 });
    const bench = new AttemptBench(described, { clock, temporaryFiles: files });
    await bench.run();
    let failure: unknown;
    bench.failed.catch((error: unknown) => (failure = error));
    await clock.until(() => failure !== undefined);
    expect(failure).toMatchObject({ code: 'FEEDBACK_OVERFLOW', recoverable: false });
    await bench.attempt.close('failed');
    expect(files.open).toBe(0);
  });
});

/** How often each number passed, by number; the same whatever the order. */
const rounds = (outside: Outside<string>, parallelism: number, lists = [numbers(12, 20)]) =>
  plan((from) => {
    from(splitSource(lists, { polls: few }), { uid: 'in' })
      .pipe(
        iterate<number, string>(
          (input) => {
            const round = input.pipe(
              keyBy((n) => n % 5),
              keyedProcess({
                uid: 'count',
                state: { seen: valueState({ initial: () => 0 }) },
                onRecord(n, { key, state }, emit: Emit<{ n: number; text: string }>) {
                  state.seen.update(state.seen.value() + 1);
                  emit({ n: n - 3, text: `${String(key)} #${String(state.seen.value())}` });
                },
              }),
            );
            return {
              feedback: round.pipe(
                filter(({ n }) => n > 0),
                map(({ n }) => n),
              ),
              output: round.pipe(map(({ text }) => text)),
            };
          },
          { uid: 'loop' },
        ),
      )
      .to(committingSink(outside), { uid: 'out' });
  }, parallelism);

async function told(parallelism: number, story: readonly Incident[]): Promise<readonly string[]> {
  const outside = new Outside<string>();
  await runThrough(rounds(outside, parallelism), new TickingClock(0.3), story);
  return outside.visible.toSorted();
}

describe('a job with a loop that crashes', () => {
  test.each([1, 3])(
    'at any step between the snapshot of the head and the completion commits what one commits that never failed (parallelism %i)',
    async (parallelism) => {
      const expected = await told(parallelism, []);
      for (const before of [4, 20, 60]) {
        for (let steps = 0; steps < 16; steps++) {
          const story: Incident[] = [
            { kind: 'run', actions: before },
            { kind: 'trigger', between: 1 },
            { kind: 'run', actions: steps },
          ];
          expect(await told(parallelism, [...story, { kind: 'crash' }])).toEqual(expected);
          expect(await told(parallelism, [...story, { kind: 'crash-once-durable' }])).toEqual(expected);
          // While the log is replayed, too.
          expect(
            await told(parallelism, [
              ...story,
              { kind: 'crash-once-durable' },
              { kind: 'run', actions: steps },
              { kind: 'crash' },
            ]),
          ).toEqual(expected);
        }
      }
    },
    60_000,
  );

  test('goes on from the checkpoint before when one is given up while its barrier goes round', async () => {
    const expected = await told(3, []);
    for (let steps = 0; steps < 12; steps++) {
      expect(
        await told(3, [
          { kind: 'run', actions: 20 },
          { kind: 'trigger', between: 0 },
          { kind: 'complete' },
          { kind: 'trigger', between: 0 },
          { kind: 'run', actions: steps },
          { kind: 'abort' },
          { kind: 'run', actions: 3 },
          { kind: 'trigger', between: 0 },
          { kind: 'run', actions: steps },
          { kind: 'crash-once-durable' },
        ]),
      ).toEqual(expected);
    }
  });

  test('has two checkpoints in flight, each with a log of its own', async () => {
    const expected = await told(3, []);
    for (let steps = 0; steps < 12; steps++) {
      expect(
        await told(3, [
          { kind: 'run', actions: 20 },
          { kind: 'trigger', between: 0 },
          { kind: 'run', actions: 1 },
          { kind: 'trigger', between: 0 },
          { kind: 'run', actions: steps },
          { kind: 'crash-once-durable' },
          { kind: 'run', actions: 5 },
        ]),
      ).toEqual(expected);
    }
  });
});

/** A checkpoint that was taken while something went round, what its log holds, and what was at the head until then. */
async function takenMidway(options: { readonly logLoops?: boolean } = {}) {
  const clock = new TickingClock(0.3);
  const passed: number[] = [];
  const described = (): ReturnType<typeof plan> =>
    plan((from) => {
      from(splitSource([[1000, 2000, 3000, 4000, 5000]], { polls: few }), { uid: 'in' })
        .pipe(
          iterate<number, number>(
            (input) => {
              const round = input.pipe(
                tap((n) => passed.push(n)),
                rebalance(),
                map((n) => n - 1),
              );
              return {
                feedback: round.pipe(filter((n) => n % 1000 !== 900)),
                output: round.pipe(filter((n) => n % 1000 === 900)),
              };
            },
            { uid: 'loop' },
          ),
        )
        .to(committingSink(outside), { uid: 'out' });
    });
  const outside = new Outside<number>();
  const bench = new AttemptBench(described(), { clock, ...options });
  await bench.run();
  await clock.until(() => passed.length > 20);
  const checkpoint = await bench.trigger(1);
  await clock.until(() => checkpoint.isComplete);
  bench.attempt.fail(new Error('crash'));
  await bench.attempt.close('failed');
  const logs = [...checkpoint.acks.values()]
    .flatMap(({ snapshot }) => snapshot.operators)
    .flatMap(({ channels = [] }) => channels);
  const logged = logs.flatMap((handle) =>
    handle.blob.kind === 'inline'
      ? readChannelState(handle, handle.blob.bytes, defaultSerializer, 'log').flatMap(({ records }) => records)
      : [],
  );
  passed.length = 0;
  const again = new AttemptBench(described(), { clock, attempt: 2, restore: checkpoint, ...options });
  await again.run();
  await finish(again, clock);
  await again.attempt.close('finished');
  return { logs, logged, passed, outside };
}

describe('a checkpoint of a loop', () => {
  test('ABS paper, cyclic graph: is restored by taking the logged records before anything of the regular input', async () => {
    const { logs, logged, passed, outside } = await takenMidway();
    expect(logged.length).toBeGreaterThan(0);
    expect(passed.slice(0, logged.length)).toEqual(logged);
    expect(outside.visible.toSorted((a, b) => a - b)).toEqual([900, 1900, 2900, 3900, 4900]);
    for (const handle of logs)
      expect(handle).toMatchObject({ kind: 'loop', edge: { consumer: 'loop' }, fromSubtask: 0, toSubtask: 0 });
  });

  test('forced without logs, loses what went round', async () => {
    const { logged, outside } = await takenMidway({ logLoops: false });
    expect(logged).toEqual([]);
    expect(outside.visible.length).toBeLessThan(5);
  });

  test('gets through although the loop is never empty', async () => {
    const clock = new TickingClock(0.3);
    const described = plan((from) => {
      from(splitSource([numbers(100_000)]), { uid: 'in' })
        .pipe(
          iterate<number, number>((input) => {
            const round = input.pipe(
              rebalance(),
              map((n) => n + 1),
            );
            return { feedback: round, output: round.pipe(filter((n) => n < 0)) };
          }),
        )
        .to(committingSink(new Outside<number>()), { uid: 'out' });
    });
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    await clock.run(500);
    const checkpoint = await bench.trigger(1);
    await clock.until(() => checkpoint.isComplete);
    bench.attempt.fail(new Error('enough'));
    await bench.attempt.close('failed');
  });
});

describe('a savepoint to stop with', () => {
  /** A job with a loop, a few steps on its way. */
  async function running(
    outside: Outside<string>,
    parallelism: number,
    restore?: TakenCheckpoint,
  ): Promise<{ bench: AttemptBench; clock: TickingClock }> {
    const clock = new TickingClock(0.3);
    const bench = new AttemptBench(rounds(outside, parallelism), {
      clock,
      restore,
      attempt: restore === undefined ? 1 : 2,
    });
    await bench.run();
    return { bench, clock };
  }
  async function completed(bench: AttemptBench, clock: TickingClock, checkpoint: TakenCheckpoint): Promise<void> {
    let isDone = false;
    void bench.complete(checkpoint).then(() => (isDone = true));
    await clock.until(() => isDone);
  }

  test.each([1, 3])(
    'holds what goes round, and whoever starts from it goes on with that (parallelism %i)',
    async (parallelism) => {
      const expected = await told(parallelism, []);
      let logged = 0;
      for (let steps = 5; steps < 80; steps += 5) {
        const outside = new Outside<string>();
        const { bench, clock } = await running(outside, parallelism);
        await clock.run(steps);
        const savepoint = await bench.trigger(1, undefined, 'suspend');
        await clock.until(() => savepoint.isComplete);
        for (const { snapshot } of savepoint.acks.values())
          for (const { channels = [] } of snapshot.operators) logged += channels.length;
        await completed(bench, clock, savepoint);
        await bench.attempt.close('cancelled');

        const next = await running(outside, parallelism, savepoint);
        await finish(next.bench, next.clock);
        await next.bench.attempt.close('finished');
        expect(outside.visible.toSorted()).toEqual(expected);
      }
      expect(logged).toBeGreaterThan(0);
    },
  );

  test.each([1, 3])(
    'that is given up lets the loop go on with what it had held back (parallelism %i)',
    async (parallelism) => {
      const expected = await told(parallelism, []);
      for (let steps = 0; steps < 24; steps += 2) {
        const outside = new Outside<string>();
        const { bench, clock } = await running(outside, parallelism);
        await clock.run(25);
        const savepoint = await bench.trigger(1, undefined, 'suspend');
        await clock.run(steps);
        bench.abort(savepoint);
        await clock.run(4);
        const checkpoint = await bench.trigger(2);
        await clock.until(() => checkpoint.isComplete);
        bench.attempt.fail(new Error('crash'));
        await bench.attempt.close('failed');

        const next = await running(outside, parallelism, checkpoint);
        await finish(next.bench, next.clock);
        await next.bench.attempt.close('finished');
        expect(outside.visible.toSorted()).toEqual(expected);
      }
    },
  );

  test.each([1, 3])('and to drain waits until nothing goes round any more (parallelism %i)', async (parallelism) => {
    const outside = new Outside<string>();
    const { bench, clock } = await running(outside, parallelism);
    await clock.run(25);
    const savepoint = await bench.trigger(1, undefined, 'drain');
    await clock.until(() => savepoint.isComplete);
    for (const { snapshot } of savepoint.acks.values())
      for (const { channels = [] } of snapshot.operators) expect(channels).toEqual([]);
    await completed(bench, clock, savepoint);
    await bench.attempt.close('finished');
    // Whatever had come in has gone round to its end: the counts of each key have no gap.
    for (const key of new Set(outside.visible.map((text) => text.split(' ')[0])))
      expect(outside.visible.filter((text) => text.startsWith(`${String(key)} `)).toSorted()).toEqual(
        numbers(outside.visible.filter((text) => text.startsWith(`${String(key)} `)).length, 1)
          .map((count) => `${String(key)} #${String(count)}`)
          .toSorted(),
      );
    expect(outside.visible.length).toBeGreaterThan(5);
  });
});
