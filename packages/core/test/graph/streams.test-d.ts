import type { Sink, Source } from '@weir/core/contracts';
import {
  aggregatingState,
  broadcast,
  broadcastState,
  coProcess,
  filter,
  flatMap,
  groupBy,
  iterate,
  keyBy,
  keyedProcess,
  listState,
  map,
  mapState,
  operatorListState,
  rebalance,
  reducingState,
  rx,
  scan,
  subtaskProcess,
  tap,
  union,
  valueState,
  withTimestamps,
  type Emit,
  type EndToEnd,
  type Guarantee,
  type Key,
  type KeyedStream,
  type NameTheOutput,
  type NotAsync,
  type Stream,
  type StreamOperator,
} from '@weir/core/operators';
import { createEnvironment, type CheckpointOptions, type JobEnd, type JobHandle } from '@weir/core';
import type { Observable } from 'rxjs';
import { filter as rxFilter, map as rxMap } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';

// What connectors look like from here.
interface Flight {
  readonly origin: string;
  readonly delay: string;
}
interface Delay {
  origin: string;
  delay: number;
}
interface Total {
  origin: string;
  total: number;
}
declare const fileSource: Source<
  Flight,
  'replayable',
  { readonly id: string; readonly path: string },
  { readonly offset: number }
>;
declare const queueSource: Source<number, 'acknowledging'>;
declare const pushSource: Source<number, 'at-most-once'>;
declare function collection<T>(values: Iterable<T>): Source<T, 'replayable', { readonly id: string }, number>;
declare const fileSink: Sink<unknown, 'exactly-once', { readonly path: string }>;
declare const idempotentSink: Sink<Total, 'idempotent'>;
declare const printSink: Sink<unknown, 'at-least-once'>;
declare function committed<T>(): (s: Stream<T>) => Observable<T>;

const env = createEnvironment();
const flights = env.from(fileSource, { uid: 'flights' });
const keyed = flights.pipe(
  map((r) => ({ origin: r.origin, delay: Number(r.delay) })),
  filter((f) => f.delay > 0),
  keyBy((f) => f.origin),
);

describe('a job is described without annotations', () => {
  test('from the source on', () => {
    expectTypeOf(flights).toEqualTypeOf<Stream<Flight, 'replayable'>>();
    expectTypeOf(keyed).toEqualTypeOf<KeyedStream<Delay, string, 'replayable'>>();
  });

  test('through state, with the one annotation that names the output', () => {
    const totals = keyed.pipe(
      keyedProcess({
        uid: 'delay-by-origin',
        state: {
          total: valueState({ initial: () => 0 }),
          last: valueState<Date>(),
          seen: mapState<string, number>(),
          all: listState<number>(),
        },
        onRecord(f, { key, state, timestamp }, emit: Emit<Total>) {
          expectTypeOf(f).toEqualTypeOf<Delay>();
          expectTypeOf(key).toEqualTypeOf<string>();
          expectTypeOf(timestamp).toEqualTypeOf<number | undefined>();
          expectTypeOf(state.total.value()).toEqualTypeOf<number>();
          expectTypeOf(state.last.value()).toEqualTypeOf<Date | undefined>();
          expectTypeOf(state.seen.get('a')).toEqualTypeOf<number | undefined>();
          expectTypeOf(state.all.values()).toEqualTypeOf<Iterable<number>>();
          emit({ origin: key, total: state.total.value() + f.delay });
          expectTypeOf(state).not.toHaveProperty('other');
          // @ts-expect-error not a Total
          emit({ origin: key });
        },
      }),
    );
    expectTypeOf(totals).toEqualTypeOf<KeyedStream<Total, string, 'replayable'>>();
    totals.to(fileSink, { uid: 'out', guarantee: 'exactly-once' });
    totals.to(idempotentSink);
    // @ts-expect-error the sink takes totals
    keyed.to(idempotentSink);
  });

  test('through time, where the output may be named by the handler that emits it', () => {
    const totals = flights.pipe(
      withTimestamps({
        timestampOf: (flight) => {
          expectTypeOf(flight).toEqualTypeOf<Flight>();
          return Number(flight.delay);
        },
        maxOutOfOrderness: '5 min',
      }),
      keyBy((flight) => flight.origin),
      keyedProcess({
        state: {
          largest: reducingState<number>({ reduce: Math.max }),
          mean: aggregatingState<number, { sum: number; count: number }, string>({
            create: () => ({ sum: 0, count: 0 }),
            add: ({ sum, count }, value) => ({ sum: sum + value, count: count + 1 }),
            result: ({ sum, count }) => String(sum / count),
          }),
        },
        onRecord(flight, { state, timers }) {
          expectTypeOf(flight).toEqualTypeOf<Flight>();
          state.mean.add(1);
          // @ts-expect-error numbers are added
          state.mean.add('1');
          timers.registerEventTime(5);
        },
        onTimer(time, { key, state, domain }, emit: Emit<Total>) {
          expectTypeOf(time).toEqualTypeOf<number>();
          expectTypeOf(key).toEqualTypeOf<string>();
          expectTypeOf(domain).toEqualTypeOf<'event' | 'processing'>();
          expectTypeOf(state.largest.value()).toEqualTypeOf<number | undefined>();
          expectTypeOf(state.mean.value()).toEqualTypeOf<string | undefined>();
          emit({ origin: key, total: state.largest.value() ?? 0 });
        },
      }),
    );
    expectTypeOf(totals).toEqualTypeOf<KeyedStream<Total, string, 'replayable'>>();
    // @ts-expect-error a duration has a unit that is known
    withTimestamps<number>({ timestampOf: (n) => n, idleAfter: '5 parsecs' });
  });

  test('through state of a subtask', () => {
    const totals = keyed.pipe(
      subtaskProcess({
        state: { held: operatorListState<Delay>(), rules: broadcastState<string, number>() },
        onRecord(delay, { state, subtask }, emit: Emit<Total>) {
          expectTypeOf(delay).toEqualTypeOf<Delay>();
          expectTypeOf(subtask).toEqualTypeOf<number>();
          expectTypeOf(state.held.values()).toEqualTypeOf<readonly Delay[]>();
          emit({ origin: delay.origin, total: state.rules.get(delay.origin) ?? 0 });
          // @ts-expect-error its state belongs to no key
          emit({ origin: state.key, total: 0 });
        },
      }),
    );
    expectTypeOf(totals).toEqualTypeOf<Stream<Total, 'replayable'>>();
  });

  test('with operators that are written out of line', () => {
    const delayByOrigin = keyedProcess({
      state: { total: valueState({ initial: () => 0 }) },
      onRecord(f: Delay, { state }, emit: Emit<Total>) {
        state.total.update(state.total.value() + f.delay);
        emit({ origin: f.origin, total: state.total.value() });
      },
    });
    expectTypeOf(keyed.pipe(delayByOrigin)).toEqualTypeOf<KeyedStream<Total, Key, 'replayable'>>();
  });

  test('with an operator that a stranger made of others', () => {
    const dedupe =
      <T, K extends Key>(key: (t: T) => K): StreamOperator<T, T> =>
      (s) =>
        s.pipe(
          keyBy(key),
          keyedProcess({
            state: { seen: valueState({ initial: () => false }) },
            onRecord(t, { state }, emit: Emit<T>) {
              if (state.seen.value()) return;
              state.seen.update(true);
              emit(t);
            },
          }),
        );
    expectTypeOf(
      flights.pipe(
        dedupe((f) => f.origin),
        map((f) => f.delay),
      ),
    ).toEqualTypeOf<Stream<string, 'replayable'>>();
    expectTypeOf(env.from(pushSource).pipe(dedupe((n) => n))).toEqualTypeOf<Stream<number, 'at-most-once'>>();
  });
});

describe('operators', () => {
  const numbers = env.from(collection([1, 2, undefined, 3]));
  const words = env.from(collection(['a b', 'c']));

  test('filter narrows by a predicate', () => {
    expectTypeOf(numbers.pipe(filter((n) => n !== undefined))).toEqualTypeOf<Stream<number, 'replayable'>>();
  });

  test('flatMap gives the items of an iterable', () => {
    expectTypeOf(
      words.pipe(
        flatMap((line) => line.split(' ')),
        map((word) => word.length),
      ),
    ).toEqualTypeOf<Stream<number, 'replayable'>>();
    // @ts-expect-error a promise is not iterable
    words.pipe(flatMap((line) => Promise.resolve([line])));
  });

  test('rx lifts RxJS operators with their types', () => {
    const lifted = words.pipe(
      rx(
        rxMap((line) => line.length),
        rxFilter((n) => n > 1),
        rxMap((n) => String(n)),
      ),
    );
    expectTypeOf(lifted).toEqualTypeOf<Stream<string, 'replayable'>>();
    // @ts-expect-error an RxJS operator must be lifted
    words.pipe(rxMap((line: string) => line.length));
  });

  test('tap, rebalance and broadcast change nothing but the key', () => {
    expectTypeOf(
      words.pipe(
        tap((line) => line.length),
        rebalance(),
        broadcast(),
      ),
    ).toEqualTypeOf<Stream<string, 'replayable'>>();
  });

  test('union has the records and the grades of all', () => {
    const pushed = env.from(pushSource);
    const lengths = words.pipe(map((line) => line.length));
    expectTypeOf(
      lengths.pipe(
        union(pushed),
        map((n) => n + 1),
      ),
    ).toEqualTypeOf<Stream<number, 'replayable' | 'at-most-once'>>();
    expectTypeOf(words.pipe(union(pushed))).toEqualTypeOf<Stream<string | number, 'replayable' | 'at-most-once'>>();
  });

  test('keyBy keeps tuples as they are', () => {
    expectTypeOf(flights.pipe(keyBy((f) => [f.origin, 1]))).toEqualTypeOf<
      KeyedStream<Flight, readonly [string, 1], 'replayable'>
    >();
    // @ts-expect-error an object is no key
    flights.pipe(keyBy((f) => ({ origin: f.origin })));
    // @ts-expect-error neither is undefined
    numbers.pipe(keyBy((n) => n));
  });

  test('scan gives the accumulator', () => {
    const sums = keyed.pipe(
      scan(
        (total, f, key) => ({ origin: key, total: total.total + f.delay }),
        () => ({ origin: '', total: 0 }),
        { uid: 'sums' },
      ),
    );
    expectTypeOf(sums).toEqualTypeOf<KeyedStream<Total, string, 'replayable'>>();
  });

  test('coProcess joins two streams that are keyed alike', () => {
    const orders = env.from(collection([{ id: 1, sum: 3 }])).pipe(keyBy((o) => o.id));
    const payments = env.from(collection([{ orderId: 1, paid: true }])).pipe(keyBy((p) => p.orderId));
    const joined = orders.pipe(
      coProcess(payments, {
        uid: 'join',
        state: { order: valueState<{ id: number; sum: number }>() },
        onFirst(order, { state }) {
          state.order.update(order);
        },
        onSecond(payment, { key, state }, emit: Emit<{ id: number; paid: boolean }>) {
          if (state.order.value() !== undefined) emit({ id: key, paid: payment.paid });
        },
      }),
    );
    expectTypeOf(joined).toEqualTypeOf<KeyedStream<{ id: number; paid: boolean }, number, 'replayable'>>();
    const byName = env.from(collection(['x'])).pipe(keyBy((name) => name));
    // @ts-expect-error numbers and strings are different keys
    orders.pipe(coProcess(byName, { onFirst: () => undefined, onSecond: () => undefined }));
  });

  test('a pipe may end outside of the job', () => {
    expectTypeOf(
      flights.pipe(
        map((r) => r.origin),
        committed(),
      ),
    ).toEqualTypeOf<Observable<string>>();
  });

  test('sixteen fit into one pipe', () => {
    const f = map((n: number) => n);
    const long = env.from(collection([1])).pipe(f, f, f, f, f, f, f, f, f, f, f, map(String));
    expectTypeOf(long).toEqualTypeOf<Stream<string, 'replayable'>>();
  });
});

describe('mistakes that the compiler finds', () => {
  test('an asynchronous map', () => {
    const later = async (f: Flight): Promise<string> => Promise.resolve(f.delay);
    // @ts-expect-error map is synchronous
    flights.pipe(map(later));
    expectTypeOf<
      NotAsync<Promise<number>>
    >().toEqualTypeOf<'map is synchronous: a promise would be passed on as a record; wait for it in the source or the sink'>();
    expectTypeOf<NotAsync<number>>().toEqualTypeOf<unknown>();
  });

  test('an asynchronous handler', () => {
    const onRecord = async (): Promise<void> => Promise.resolve();
    // @ts-expect-error handlers are synchronous
    keyed.pipe(keyedProcess({ onRecord }));
  });

  test('an output that nobody named', () => {
    const unnamed = keyed.pipe(keyedProcess({ onRecord: () => undefined }));
    expectTypeOf(unnamed).toEqualTypeOf<
      KeyedStream<
        NameTheOutput<'annotate the third parameter of the first handler: emit: Emit<YourType>'>,
        string,
        'replayable'
      >
    >();
  });

  test('a keyed stream stays keyed through operators that make records of records', () => {
    const minutes = keyed.pipe(
      map((f) => f.delay),
      filter((n) => n > 0),
      flatMap((n) => [n, n]),
      tap((n) => n),
      rx(rxMap((n: number) => n)),
      withTimestamps({ timestampOf: (n) => n }),
    );
    expectTypeOf(minutes).toEqualTypeOf<KeyedStream<number, string, 'replayable'>>();
    const sums = minutes.pipe(scan((sum, n, key) => (key === '' ? sum : sum + n), 0));
    expectTypeOf(sums).toEqualTypeOf<KeyedStream<number, string, 'replayable'>>();
    expectTypeOf(keyed.pipe(union(keyed))).toEqualTypeOf<KeyedStream<Delay, string, 'replayable'>>();
    const grouped = flights.pipe(
      groupBy(
        (f) => f.origin,
        (group) =>
          group.pipe(
            map((f) => f.delay),
            scan((seen, delay) => `${seen}${delay}`, ''),
          ),
      ),
    );
    expectTypeOf(grouped).toEqualTypeOf<KeyedStream<string, string, 'replayable'>>();
    const next = (f: () => number, n: number): (() => number) => (n > 0 ? f : () => n);
    scan(next, () => () => 1);
    // @ts-expect-error a function is called for the seed, so one that is the accumulator is given by another
    scan(next, () => 1);
  });

  test('a keyed operator behind something that has dropped the key', () => {
    const sum = scan(
      (total: number, f: Delay) => total + f.delay,
      () => 0,
    );
    keyed.pipe(sum);
    // @ts-expect-error rebalance drops the key
    keyed.pipe(rebalance()).pipe(sum);
    // @ts-expect-error so does a union with what has none
    keyed.pipe(union(flights)).pipe(sum);
  });
});

describe('guarantees', () => {
  test('are as good as the weaker of source and sink', () => {
    expectTypeOf<EndToEnd<'replayable', 'exactly-once'>>().toEqualTypeOf<'exactly-once'>();
    expectTypeOf<EndToEnd<'replayable', 'idempotent'>>().toEqualTypeOf<'exactly-once'>();
    expectTypeOf<EndToEnd<'replayable', 'at-least-once'>>().toEqualTypeOf<'at-least-once'>();
    expectTypeOf<EndToEnd<'acknowledging', 'exactly-once'>>().toEqualTypeOf<'at-least-once'>();
    expectTypeOf<EndToEnd<'at-most-once', 'exactly-once'>>().toEqualTypeOf<'at-most-once'>();
    expectTypeOf<EndToEnd<'replayable' | 'at-most-once', 'exactly-once'>>().toEqualTypeOf<'at-most-once'>();
    expectTypeOf<EndToEnd<'replayable' | 'acknowledging', 'idempotent'>>().toEqualTypeOf<'at-least-once'>();
    expectTypeOf<Guarantee>().toEqualTypeOf<'exactly-once' | 'at-least-once' | 'at-most-once'>();
  });

  test('may be claimed up to that, and no further', () => {
    const queue = env.from(queueSource);
    const pushed = env.from(pushSource);
    flights.to(fileSink, { guarantee: 'exactly-once' });
    flights.to(fileSink, { guarantee: 'at-least-once' });
    flights.to(printSink, { guarantee: 'at-least-once' });
    queue.to(fileSink, { guarantee: 'at-least-once' });
    pushed.to(fileSink, { guarantee: 'at-most-once' });
    // @ts-expect-error the sink repeats output
    flights.to(printSink, { guarantee: 'exactly-once' });
    // @ts-expect-error the source acknowledges
    queue.to(fileSink, { guarantee: 'exactly-once' });
    // @ts-expect-error the source cannot replay
    pushed.to(fileSink, { guarantee: 'at-least-once' });
    // @ts-expect-error one of the sources cannot replay
    queue.pipe(union(pushed)).to(fileSink, { guarantee: 'at-least-once' });
  });

  test('that are unknown are claimed by nobody', () => {
    const anything = flights as Stream<Flight>;
    anything.to(fileSink);
    // @ts-expect-error nobody knows the source
    anything.to(fileSink, { guarantee: 'at-least-once' });
  });

  test('get weaker only', () => {
    expectTypeOf(flights).toExtend<Stream<unknown>>();
    expectTypeOf<Stream<unknown>>().not.toExtend<Stream<unknown, 'replayable'>>();
    expectTypeOf(keyed).toExtend<Stream<Delay, 'replayable'>>();
    expectTypeOf<Stream<Delay, 'replayable'>>().not.toExtend<typeof keyed>();
  });
});

test('an environment and its jobs', () => {
  expectTypeOf(env.start).parameter(0).toEqualTypeOf<string>();
  expectTypeOf(env.start).returns.toEqualTypeOf<Promise<JobHandle>>();
  expectTypeOf(env.execute).returns.toEqualTypeOf<Promise<JobEnd>>();
  expectTypeOf(env.enableCheckpointing).parameter(1).toEqualTypeOf<CheckpointOptions | CheckpointOptions['mode']>();
  env.enableCheckpointing('1 s');
  env.enableCheckpointing(1000, { timeout: '10min' });
  env.enableCheckpointing(1000, 'at-least-once');
  // @ts-expect-error no such mode
  env.enableCheckpointing(1000, 'at-most-once');
  // @ts-expect-error no such argument
  env.enableCheckpointing(1000, 'exactly-once', true);
  // @ts-expect-error no such unit
  env.enableCheckpointing('1 parsec');
  // @ts-expect-error no such option
  env.enableCheckpointing('1s', { patience: 5 });
});

describe('a loop', () => {
  const numbers = createEnvironment().from(collection([1, 2, 3]));

  test('gives what leaves it, and has its input as the type of what goes round', () => {
    const inferred = numbers.pipe(
      iterate((input) => ({
        feedback: input.pipe(filter((n) => n > 0)),
        output: input.pipe(map((n) => String(n))),
      })),
    );
    expectTypeOf(inferred).toEqualTypeOf<Stream<string, 'replayable'>>();
    // @ts-expect-error -- what goes round must be of the type that comes in
    numbers.pipe(iterate<number, number>((input) => ({ feedback: input.pipe(map(String)), output: input })));
  });
});
