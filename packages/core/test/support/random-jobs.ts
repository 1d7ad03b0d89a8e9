import { fc } from '@fast-check/vitest';
import { seededRandom } from '@weir/testkit';
import { mergeMap, of } from 'rxjs';
import { nextTurn, type Clock } from '../../src/contracts/clock.js';
import {
  broadcast,
  coProcess,
  filter,
  flatMap,
  iterate,
  keyBy,
  keyedProcess,
  map,
  mapState,
  rebalance,
  rx,
  scan,
  union,
  valueState,
  withTimestamps,
  type Emit,
  type KeyContext,
  type TimerContext,
} from '../../src/operators.js';
import type { Stream, StreamOperator } from '../../src/graph/stream.js';
import type { From } from './attempt-bench.js';
import { committingSink, type Outside } from './committing-sink.js';
import { splitSource, type Poll } from './split-source.js';

/** Jobs whose output is the same multiset in whatever order records meet, so that any two correct runs can be compared. */
const SHAPES = [
  'chain',
  'keyed',
  'union',
  'join',
  'fan-out',
  'diamond',
  'expanding',
  'broadcast',
  'windows',
  'timed-join',
  'loop',
  'loops',
] as const;

export interface RandomJob {
  readonly shape: (typeof SHAPES)[number];
  /** Records per split, per source. */
  readonly splits: readonly (readonly number[])[];
  readonly parallelism: number;
  readonly sourceParallelism: number;
  readonly sinkParallelism: number;
  /** Of poll sizes, delays and slow writes. */
  readonly seed: number;
  /** How long looking at the clock takes: the larger, the more often subtasks take turns. */
  readonly tickMs: number;
  /** Turns of the event loop that a write takes at most. */
  readonly writeTurns: number;
}

const parallelism = fc.integer({ min: 1, max: 4 });
export const randomJob: fc.Arbitrary<RandomJob> = fc.record({
  shape: fc.constantFrom(...SHAPES),
  splits: fc.array(fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 4 }), { minLength: 2, maxLength: 2 }),
  parallelism,
  sourceParallelism: parallelism,
  sinkParallelism: parallelism,
  seed: fc.integer(),
  tickMs: fc.constantFrom(0.05, 0.15, 0.3),
  writeTurns: fc.constantFrom(0, 0, 4, 12),
});

export interface Input {
  readonly source: string;
  readonly n: number;
}

export function describeJob(
  { shape, splits, sourceParallelism, sinkParallelism, seed, writeTurns }: RandomJob,
  from: From,
  outside: Outside<string>,
  clock: Clock,
): void {
  const random = seededRandom(seed);
  const polls = (): Poll => ({ count: Math.floor(random() * 9), isAsync: random() < 0.3 });
  const waitFor = async (turns: number): Promise<void> => {
    for (let left = turns; left > 0; left--) await nextTurn(clock);
  };
  const source = (name: string, index: number): Stream<Input, 'replayable'> => {
    const records = (splits[index] ?? []).map((count, split) =>
      Array.from({ length: count }, (_, i): Input => ({ source: name, n: split * 100 + i })),
    );
    const onOpen = (): Promise<void> => waitFor(Math.floor(random() * 5));
    return from(splitSource(records, { polls, onOpen }), { uid: name, parallelism: sourceParallelism });
  };
  const sink = (stream: Stream<string, 'replayable'>, name: string): void => {
    const onWrite = (): void | Promise<void> => {
      const turns = Math.floor(random() * (writeTurns + 1));
      if (turns > 0) return waitFor(turns);
      return random() < 0.2 ? Promise.resolve() : undefined;
    };
    stream.to(committingSink(outside, { onWrite }), { uid: name, parallelism: sinkParallelism });
  };
  const a = source('a', 0);
  const b = source('b', 1);
  const show = map(({ source: name, n }: Input) => `${name}${String(n)}`);
  switch (shape) {
    case 'chain':
      sink(
        a.pipe(
          filter(({ n }) => n % 3 !== 0),
          show,
        ),
        'out-a',
      );
      sink(b.pipe(rebalance(), rx(mergeMap((r) => of(r, r))), show), 'out-b');
      return;
    case 'keyed':
      sink(a.pipe(counted('count')), 'out-a');
      sink(
        b.pipe(
          keyBy(({ n }) => [n % 4, 'x']),
          scan(
            (sum, { n }) => sum + (n % 2),
            () => 0,
            { uid: 'sum' },
          ),
          map((sum) => `sum ${sum >= 0 ? 'ok' : 'bad'}`),
        ),
        'out-b',
      );
      return;
    case 'union':
      sink(
        a.pipe(
          union(b),
          rebalance(),
          map((r) => r),
          counted('count'),
        ),
        'out',
      );
      return;
    case 'join':
      sink(joined(a, b), 'out');
      return;
    case 'fan-out':
      sink(a.pipe(show), 'out-a');
      sink(a.pipe(counted('count-a')), 'out-counted');
      sink(b.pipe(union(a), counted('count-b')), 'out-b');
      return;
    case 'diamond':
      sink(
        a.pipe(
          map((r) => ({ ...r, n: r.n + 1000 })),
          union(a, b),
          counted('count'),
        ),
        'out',
      );
      return;
    case 'expanding':
      sink(
        a.pipe(
          flatMap(function* (r) {
            for (let i = 0; i < r.n % 5; i++) yield { ...r, n: r.n * 10 + i };
          }),
          counted('first'),
          map((text) => ({ source: 'c', n: text.length })),
          union(b),
          counted('second'),
        ),
        'out',
      );
      return;
    case 'broadcast':
      sink(a.pipe(broadcast(), show), 'out-a');
      sink(b.pipe(show, union(a.pipe(show))), 'out-b');
      return;
    case 'windows':
      sink(
        a.pipe(
          inTime(sourceParallelism, 0),
          union(b.pipe(inTime(sourceParallelism, 30))),
          keyBy(({ n }) => n % 7),
          keyedProcess({ uid: 'windows', state: WINDOWS, onRecord: toWindow, onTimer: closeWindow }),
        ),
        'out',
      );
      return;
    case 'timed-join': {
      const second = b.pipe(
        inTime(sourceParallelism, 0),
        keyBy(({ n }) => n % 5),
      );
      sink(
        a.pipe(
          inTime(sourceParallelism, 0),
          keyBy(({ n }) => n % 5),
          coProcess(second, {
            uid: 'windows',
            state: WINDOWS,
            onFirst: toWindow,
            onSecond: toWindow,
            onTimer: closeWindow,
          }),
        ),
        'out',
      );
      return;
    }
    case 'loop':
      sink(a.pipe(union(b), halved('halve'), counted('count')), 'out');
      return;
    case 'loops':
      sink(
        a.pipe(
          iterate<Input, Input>(
            (input) => {
              const inner = input.pipe(lowered('inner', 7, 40));
              return {
                feedback: inner.pipe(
                  filter(({ n }) => n > 10),
                  union(b),
                  map((r) => ({ ...r, n: r.n - 10 })),
                ),
                output: inner.pipe(filter(({ n }) => n <= 10)),
              };
            },
            { uid: 'outer' },
          ),
          counted('count'),
        ),
        'out',
      );
  }
}

/** Each subtask of the source reads its splits in their order, so none of its records is late to it. */
function inTime(
  parallelism: number,
  maxOutOfOrderness: number,
): (s: Stream<Input, 'replayable'>) => Stream<Input, 'replayable'> {
  return withTimestamps({ timestampOf: ({ n }) => n, maxOutOfOrderness, watermarkInterval: 0, parallelism });
}

const WINDOWS = { counts: mapState<number, number>() };
type Windows = typeof WINDOWS;
const WINDOW = 20;

function toWindow(
  _record: Input,
  { state: { counts }, timestamp = Number.NaN, timers }: KeyContext<number, Windows>,
): undefined {
  const end = timestamp - (timestamp % WINDOW) + WINDOW - 1;
  counts.set(end, (counts.get(end) ?? 0) + 1);
  timers.registerEventTime(end);
}

/** One line for each record, so that records which came twice add lines and change none. */
function closeWindow(
  end: number,
  { key, state: { counts } }: TimerContext<number, Windows>,
  emit: Emit<string>,
): undefined {
  for (let count = counts.get(end) ?? 0; count > 0; count--)
    emit(`${String(key)} until ${String(end)} #${String(count)}`);
  counts.delete(end);
}

/** Sends each record round until it is small, leaving a trace of every round; each key counts what it sees. */
function halved(uid: string): (s: Stream<Input, 'replayable'>) => Stream<Input, 'replayable'> {
  return (s) =>
    s.pipe(
      iterate<Input, Input>(
        (input) => {
          const round = input.pipe(
            keyBy(({ n }) => n % 7),
            keyedProcess({
              uid: `${uid}-round`,
              state: { count: valueState({ initial: () => 0 }) },
              onRecord(record, { state }, emit: Emit<{ readonly record: Input; readonly seen: number }>) {
                state.count.update(state.count.value() + 1);
                emit({ record, seen: state.count.value() });
              },
            }),
          );
          return {
            feedback: round.pipe(
              flatMap(({ record }) => (record.n % 3 === 0 ? [record.n / 3, record.n / 3 + 1] : [record.n >> 1])),
              filter((n) => n > 2),
              map((n) => ({ source: uid, n })),
            ),
            output: round.pipe(map(({ seen }) => ({ source: 'seen', n: seen }))),
          };
        },
        { uid },
      ),
    );
}

/** Sends each record round, `by` less each time, until it is at most `to`. */
function lowered(uid: string, by: number, to: number): StreamOperator<Input, Input> {
  return iterate<Input, Input>(
    (input) => {
      const round = input.pipe(
        rebalance(),
        map((r) => ({ ...r, n: r.n - by })),
      );
      return { feedback: round.pipe(filter(({ n }) => n > to)), output: round.pipe(filter(({ n }) => n <= to)) };
    },
    { uid },
  );
}

/** Numbers the records of each key as they come. */
function counted(uid: string): (s: Stream<Input, 'replayable'>) => Stream<string, 'replayable'> {
  return (s) =>
    s.pipe(
      keyBy(({ n }) => n % 7),
      keyedProcess({
        uid,
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(_record, { key, state }, emit: Emit<string>) {
          state.count.update(state.count.value() + 1);
          emit(`${uid} ${String(key)} #${String(state.count.value())}`);
        },
      }),
    );
}

function joined(a: Stream<Input, 'replayable'>, b: Stream<Input, 'replayable'>): Stream<string, 'replayable'> {
  return a.pipe(
    keyBy(({ n }) => n % 5),
    coProcess(b.pipe(keyBy(({ n }) => n % 5)), {
      uid: 'join',
      state: { firsts: valueState({ initial: () => 0 }), seconds: valueState({ initial: () => 0 }) },
      onFirst(_record, { key, state }, emit: Emit<string>) {
        state.firsts.update(state.firsts.value() + 1);
        emit(`first ${String(key)} #${String(state.firsts.value())}`);
      },
      onSecond(_record, { key, state }, emit) {
        state.seconds.update(state.seconds.value() + 1);
        emit(`second ${String(key)} #${String(state.seconds.value())}`);
      },
    }),
  );
}
