import {
  coProcess,
  filter,
  flatMap,
  keyBy,
  keyedProcess,
  listState,
  mapState,
  scan,
  map,
  union,
  valueState,
  type Emit,
  type Stream,
} from '@weir/core/operators';
import { numberOf, type Item } from './item.js';

/** A stream of replayable items. */
export type Items = Stream<Item, 'replayable'>;

export interface KeyedOptions {
  readonly uid: string;
  readonly keys: number;
  readonly parallelism: number | undefined;
}

// What each of them emits for a key depends on how many records of it have come, not on their order: so the output of a run is the same in
// whatever order the records of its inputs meet, and one record more or less in a state shows.

/** The how-manieth record of its key. */
export function count(input: Items, { uid, keys, parallelism }: KeyedOptions): Items {
  return input.pipe(
    keyBy(({ key }) => key % keys),
    keyedProcess({
      uid,
      parallelism,
      state: { seen: valueState({ initial: () => 0 }) },
      onRecord(_item, { key, state: { seen } }, emit: Emit<Item>) {
        const n = seen.value() + 1;
        seen.update(n);
        emit({ id: `${uid}:${String(key)}#${String(n)}`, key: n });
      },
    }),
  );
}

/** How often a record of this id has come: 1 for each, unless one comes again. */
export function mark(input: Items, { uid, keys, parallelism }: KeyedOptions): Items {
  return input.pipe(
    keyBy(({ key }) => key % keys),
    keyedProcess({
      uid,
      parallelism,
      state: { times: mapState<string, number>() },
      onRecord({ id, key }, { state: { times } }, emit: Emit<Item>) {
        const n = (times.get(id) ?? 0) + 1;
        times.set(id, n);
        emit({ id: `${id}x${String(n)}`, key });
      },
    }),
  );
}

/** So many records of a key are collected. */
export const COLLECTED = 5;

/** Collects some records of a key, over and over. */
export function collect(input: Items, { uid, keys, parallelism }: KeyedOptions): Items {
  return input.pipe(
    keyBy(({ key }) => key % keys),
    keyedProcess({
      uid,
      parallelism,
      state: { some: listState<string>(), rounds: valueState({ initial: () => 0 }) },
      onRecord({ id }, { key, state: { some, rounds } }, emit: Emit<Item>) {
        some.add(id);
        const n = [...some.values()].length;
        emit({ id: `${uid}:${String(key)}~${String(rounds.value())}.${String(n)}`, key: n });
        if (n < COLLECTED) return;
        some.clear();
        rounds.update(rounds.value() + 1);
      },
    }),
  );
}

/** After so long the clock calls for what was held back; event time does when it ends. */
const DELAY_MS = 8;

/** Holds records back until a timer of their key is called, then numbers them. */
export function delay(input: Items, { uid, keys, parallelism }: KeyedOptions): Items {
  return input.pipe(
    keyBy(({ key }) => key % keys),
    keyedProcess({
      uid,
      parallelism,
      state: { held: valueState({ initial: () => 0 }), told: valueState({ initial: () => 0 }) },
      onRecord(_item, { state: { held }, timers }, _emit: Emit<Item>) {
        held.update(held.value() + 1);
        timers.registerProcessingTime(timers.now() + DELAY_MS);
        timers.registerEventTime(Number.MAX_SAFE_INTEGER);
      },
      onTimer(_time, { key, state: { held, told } }, emit) {
        const until = told.value() + held.value();
        for (let n = told.value() + 1; n <= until; n++) emit({ id: `${uid}:${String(key)}@${String(n)}`, key: n });
        told.update(until);
        held.clear();
      },
    }),
  );
}

/** A rolling reduce, of records that have lost what they are keyed by, or never had it: their keys travel with them, also by two ways. */
export function reduce(input: Items, { uid, keys, parallelism }: KeyedOptions): Items {
  const keyOf = ({ key }: Item): number => key % keys;
  const isEven = ({ id }: Item): boolean => numberOf(id) % 2 === 0;
  const others = input.pipe(
    filter((item) => !isEven(item)),
    keyBy(keyOf),
  );
  return input.pipe(
    filter(isEven),
    keyBy(keyOf),
    map(({ id }) => id),
    union(
      others.pipe(
        keyedProcess({
          uid: `${uid}-others`,
          parallelism,
          onRecord: ({ id }, _context, emit: Emit<string>) => {
            emit(id);
          },
        }),
      ),
    ),
    flatMap((id) => [id]),
    scan(({ n }, _id, key) => ({ key, n: n + 1 }), { key: 0, n: 0 }, { uid, parallelism }),
    map(({ key, n }): Item => ({ id: `${uid}:${String(key)}/${String(n)}`, key: n })),
  );
}

/** Every pair of records of a key, one of each input. */
export function join(left: Items, right: Items, { uid, keys, parallelism }: KeyedOptions): Items {
  return left.pipe(
    keyBy(({ key }) => key % keys),
    coProcess(right.pipe(keyBy(({ key }) => key % keys)), {
      uid,
      parallelism,
      state: { lefts: listState<string>(), rights: listState<string>() },
      onFirst({ id }, { key, state }, emit: Emit<Item>) {
        state.lefts.add(id);
        for (const other of state.rights.values()) emit({ id: `(${id}&${other})`, key });
      },
      onSecond({ id }, { key, state }, emit: Emit<Item>) {
        state.rights.add(id);
        for (const other of state.lefts.values()) emit({ id: `(${other}&${id})`, key });
      },
    }),
  );
}
