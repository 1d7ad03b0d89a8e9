import {
  aggregatingState,
  broadcast,
  broadcastState,
  coProcess,
  filter,
  flatMap,
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
  transform,
  union,
  unionListState,
  valueState,
  withTimestamps,
  type Emit,
  type Key,
  type KeyedStream,
  type KeyType,
  type StateTtl,
  type Stream,
} from '@weir/core/operators';
import { map as rxMap } from 'rxjs';

export type Numbers = Stream<number, 'replayable'>;
export type Program = (numbers: Numbers, uid: string) => Stream<unknown>;

/** Every operator there is by itself: with state and without, written and not, with timers and without. Each gives the same in any number of subtasks, but for repeats. */
export const OPERATORS: Readonly<Record<string, Program>> = {
  map: (s) => s.pipe(map((n) => n + 1)),
  filter: (s) => s.pipe(filter((n) => n % 2 === 0)),
  flatMap: (s) => s.pipe(flatMap((n) => [n, -n])),
  tap: (s) => s.pipe(tap(() => undefined)),
  rx: (s) => s.pipe(rx(rxMap((n: number) => n * 2))),
  rebalance: (s) =>
    s.pipe(
      rebalance(),
      map((n) => -n),
    ),
  broadcast: (s) =>
    s.pipe(
      broadcast(),
      map((n) => -n),
    ),
  union: (s) => s.pipe(union(s.pipe(map((n) => n * 10)))),
  withTimestamps: (s, uid) => s.pipe(withTimestamps({ uid, timestampOf: (n) => n })),
  iterate: (s, uid) =>
    s.pipe(
      iterate<number, number>(
        (input) => {
          const halved = input.pipe(map((n) => (n % 2 === 0 ? n / 2 : n)));
          return {
            feedback: halved.pipe(filter((n) => n > 0 && n % 2 === 0)),
            output: halved.pipe(filter((n) => n === 0 || n % 2 === 1)),
          };
        },
        { uid },
      ),
    ),
  transform: (s, uid) =>
    transform([s], { name: 'custom', isStateful: false, create: () => ({ connect: (source) => source }) }, { uid }),
  'subtaskProcess without state': (s, uid) =>
    s.pipe(subtaskProcess({ uid, onRecord: (n: number, _context, emit: Emit<number>) => emit(n) })),
  'subtaskProcess with a state that is never written': (s, uid) =>
    s.pipe(
      subtaskProcess({
        uid,
        state: {
          held: operatorListState<number>(),
          seen: unionListState<number>(),
          rules: broadcastState<string, 1>(),
        },
        onRecord: (n: number, _context, emit: Emit<number>) => emit(n),
      }),
    ),
  'subtaskProcess with list state': (s, uid) => {
    const held = operatorListState<number>();
    return s.pipe(
      subtaskProcess({
        uid,
        state: { held },
        onRecord(n: number, { state }, _emit: Emit<string>) {
          state.held.add(n);
        },
        onEnd({ state }, emit) {
          for (const n of state.held.values()) emit(`held ${String(n)}`);
        },
      }),
    );
  },
  'subtaskProcess with union state': (s, uid) =>
    s.pipe(
      subtaskProcess({
        uid,
        state: { seen: unionListState<number>() },
        onRecord(n: number, { state }, emit: Emit<number>) {
          state.seen.add(n);
          emit(n);
        },
        onEnd({ state }, emit) {
          for (const n of state.seen.values()) emit(1000 + n);
        },
      }),
    ),
  'subtaskProcess with broadcast state': (s, uid) =>
    s.pipe(
      broadcast(),
      subtaskProcess({
        uid,
        state: { rules: broadcastState<Key, number>() },
        onRecord(n: number, { state }, emit: Emit<string>) {
          state.rules.set(['rule', n % 4], n);
          emit(`${String(n)} of ${String([...state.rules.entries()].length)}`);
        },
      }),
    ),
  'keyedProcess without state': (s, uid) =>
    s.pipe(
      keyBy((n) => n % 4),
      keyedProcess({ uid, onRecord: (n: number, { key }, emit: Emit<string>) => emit(`${String(key)}: ${String(n)}`) }),
    ),
  'keyedProcess with a state that is never written': (s, uid) =>
    s.pipe(
      keyBy((n) => n % 4),
      keyedProcess({
        uid,
        state: everyState(),
        onRecord: (n: number, _context, emit: Emit<number>) => emit(n),
      }),
    ),
  'keyedProcess with timers alone': (s, uid) =>
    s.pipe(
      withTimestamps({ timestampOf: (n) => n, watermarkInterval: 0 }),
      keyBy((n) => n % 4),
      keyedProcess({
        uid,
        onRecord(n: number, { timers }, emit: Emit<string>) {
          timers.registerEventTime(n + 1000);
          emit(String(n));
        },
        onTimer: (time, { key }, emit) => emit(`timer ${String(time)} of ${String(key)}`),
      }),
    ),
  'keyedProcess with timers that nobody registers': (s, uid) =>
    s.pipe(
      keyBy((n) => n % 4),
      keyedProcess({
        uid,
        onRecord: (n: number, _context, emit: Emit<number>) => emit(n),
        onTimer: () => undefined,
      }),
    ),
  'keyedProcess with state of every kind': (s, uid) =>
    s.pipe(
      keyBy((n) => n % 4),
      counting(uid),
    ),
  'keyedProcess with state of every kind that expires': (s, uid) =>
    s.pipe(
      keyBy((n) => n % 4),
      counting(uid, { after: '1h', update: 'on-read-and-write' }),
    ),
  scan: (s, uid) =>
    s.pipe(
      keyBy((n) => n % 4),
      scan(
        (sum, n) => sum + n,
        () => 0,
        { uid },
      ),
    ),
  'coProcess without state': (s, uid) => {
    const [evens, odds] = halves(s);
    return evens.pipe(
      coProcess(odds, {
        uid,
        onFirst: (n: number, { key }, emit: Emit<string>) => emit(`${String(key)} first ${String(n)}`),
        onSecond: (n: number, { key }, emit) => emit(`${String(key)} second ${String(n)}`),
      }),
    );
  },
  'coProcess with state and timers': (s, uid) => {
    const [evens, odds] = halves(s.pipe(withTimestamps({ timestampOf: (n) => n, watermarkInterval: 0 })));
    return evens.pipe(
      coProcess(odds, {
        uid,
        state: { evens: valueState({ initial: () => 0 }), odds: listState<number>() },
        onFirst(n: number, { state, timers }, _emit: Emit<string>) {
          state.evens.update(state.evens.value() + n);
          timers.registerEventTime(10_000);
        },
        onSecond(n: number, { state }) {
          state.odds.add(n);
        },
        onTimer(_time, { key, state }, emit) {
          const odds = [...state.odds.values()].reduce((sum, n) => sum + n, 0);
          emit(`${String(key)}: ${String(state.evens.value())} and ${String(odds)}`);
        },
      }),
    );
  },
};

/** What records are keyed by: each type alone, all of them together, few and many of each, declared and not. */
export const KEYED: readonly (readonly [string, (n: number) => Key, readonly KeyType[]])[] = [
  ['strings', (n) => `key ${String(n)}`, ['string']],
  ['numbers', (n) => n / 4, ['number']],
  ['bigints', (n) => 2n ** 70n + BigInt(n), ['bigint']],
  ['booleans', (n) => n % 2 === 0, ['boolean']],
  ['arrays', (n) => ['key', [n, n % 2 === 0]], ['array']],
  [
    'keys of every type',
    (n) => [n, String(n), BigInt(n), n % 2 === 0, [n]][n % 5] as Key,
    ['string', 'number', 'bigint', 'boolean', 'array'],
  ],
];

const everyState = (ttl?: StateTtl) => ({
  total: valueState<number>({ ttl }),
  recent: listState<number>({ ttl }),
  byTens: mapState<Key, number>({ ttl }),
  most: reducingState<number>({ ttl, reduce: Math.max }),
  mean: aggregatingState({
    ttl,
    create: () => ({ sum: 0, count: 0 }),
    add: ({ sum, count }, n: number) => ({ sum: sum + n, count: count + 1 }),
    result: ({ sum, count }) => sum / count,
  }),
});

/** Says of each record everything that is known of its key. */
export const counting = (
  uid: string,
  ttl?: StateTtl,
): ReturnType<typeof keyedProcess<number, Key, string, ReturnType<typeof everyState>>> =>
  keyedProcess<number, Key, string, ReturnType<typeof everyState>>({
    uid,
    state: everyState(ttl),
    onRecord(n, { key, state: { total, recent, byTens, most, mean } }, emit) {
      total.update((total.value() ?? 0) + n);
      recent.add(n);
      byTens.set([Math.floor(n / 10)], n);
      most.add(n);
      mean.add(n);
      emit(
        `${String(key)} ${String(n)}: ${String(total.value())} ${[...recent.values()].join('+')} ` +
          `${[...byTens.entries()]
            .map((entry) => entry.join(':'))
            .sort()
            .join(',')} ${String(most.value())} ${String(mean.value())}`,
      );
    },
  });

type Halves = readonly [KeyedStream<number, number, 'replayable'>, KeyedStream<number, number, 'replayable'>];

const halves = (s: Numbers): Halves => [
  s.pipe(
    filter((n) => n % 2 === 0),
    keyBy((n) => n % 5),
  ),
  s.pipe(
    filter((n) => n % 2 === 1),
    keyBy((n) => n % 5),
  ),
];
