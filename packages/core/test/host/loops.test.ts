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
  map,
  perBatch,
  rebalance,
  tap,
  transform,
  union,
  valueState,
  type Emit,
  type Stream,
} from '../../src/operators.js';
import { AttemptBench, plan, type TakenCheckpoint } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { runThrough, type Incident } from '../support/crashing-run.js';
import { splitSource, type Poll } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

type Numbers = Stream<number>;
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
    bench.attempt.failed.catch((error: unknown) => (failure = error));
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
  test('ABS paper, scenario 135: is restored by taking the logged records before anything of the regular input', async () => {
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
