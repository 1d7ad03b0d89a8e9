import { describe, expect, test } from 'vitest';
import { BATCH_SIZE, batch } from '../../src/element/element.js';
import type { Emit, KeyContext } from '../../src/operator/key-context.js';
import { coProcessOperator } from '../../src/operator/co-process.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { scanOperator } from '../../src/operator/scan.js';
import { subtaskProcessOperator, type SubtaskContext } from '../../src/operator/subtask-process.js';
import {
  aggregatingState,
  listState,
  mapState,
  reducingState,
  valueState,
  type States,
} from '../../src/state/descriptors.js';
import {
  broadcastState,
  operatorListState,
  unionListState,
  type OperatorStates,
} from '../../src/state/operator-state-descriptors.js';
import { v8Serializer } from '../../src/state/v8-serializer.js';
import { OperatorBench } from '../support/operator-bench.js';

interface Tally {
  n: number;
}
const tally = (value: unknown): Tally => value as Tally;

/** What three records in one batch make, looked at when the batch has been sent; and then what each of them is once the state has changed again. */
async function threeOf(make: (context: OperatorContext) => Operator): Promise<unknown[]> {
  const bench = await OperatorBench.open(make);
  bench.send(batch([1, 2, 3]));
  if (bench.errors.length > 0) throw bench.errors[0] as Error;
  return bench.records;
}

const keyed =
  <S extends States>(
    state: S,
    onRecord: (n: number, context: KeyContext<string, S>, emit: Emit<unknown>) => undefined,
  ) =>
  (context: OperatorContext): Operator =>
    keyedProcessOperator<number, string, S, unknown>(context, { keyOf: () => 'all', state, onRecord });

const subtask =
  <S extends OperatorStates>(
    state: S,
    onRecord: (n: number, context: SubtaskContext<S>, emit: Emit<unknown>) => undefined,
  ) =>
  (context: OperatorContext): Operator =>
    subtaskProcessOperator<number, S, unknown>(context, { state, onRecord });

const TTL = { ttl: { after: '1h' } } as const;

describe('what is emitted is another object than what state keeps, each with what it was then:', () => {
  const COUNTED = [{ n: 1 }, { n: 2 }, { n: 3 }];
  const countedInPlace = (options: object): ((context: OperatorContext) => Operator) =>
    keyed({ it: valueState<Tally>({ ...options, initial: () => ({ n: 0 }) }) }, (_n, { state: { it } }, emit) => {
      const now = it.value();
      now.n++;
      it.update(now);
      emit(now);
    });

  test.each<[string, (context: OperatorContext) => Operator]>([
    ['a value, changed in place, kept and emitted', countedInPlace({})],
    ['the same of state that expires', countedInPlace(TTL)],
    ['the same behind another serializer', countedInPlace({ serializer: v8Serializer })],
    [
      'a value, changed in place, emitted and then kept',
      keyed({ it: valueState<Tally>({ initial: () => ({ n: 0 }) }) }, (_n, { state: { it } }, emit) => {
        const now = it.value();
        now.n++;
        emit(now);
        it.update(now);
      }),
    ],
    [
      'a new value, emitted, then kept, and changed by the next record',
      keyed({ it: valueState<Tally>() }, (_n, { state: { it } }, emit) => {
        const before = it.value();
        if (before !== undefined) {
          before.n++;
          it.update(before);
          emit(before);
          return;
        }
        const first = { n: 1 };
        emit(first);
        it.update(first);
      }),
    ],
    [
      'a value of a map',
      keyed({ it: mapState<string, Tally>() }, (_n, { state: { it } }, emit) => {
        const now = it.get('a') ?? { n: 0 };
        now.n++;
        it.set('a', now);
        emit(now);
      }),
    ],
    [
      'a value of a map among its entries',
      keyed({ it: mapState<string, Tally>() }, (n, { state: { it } }, emit) => {
        if (n === 1) it.set('a', { n: 0 });
        for (const [, now] of it.entries()) {
          now.n++;
          emit(now);
        }
      }),
    ],
    [
      'an element of a list, and then another',
      keyed({ it: listState<Tally>(TTL) }, (n, { state: { it } }, emit) => {
        if (n === 1) it.add({ n: 0 });
        for (const now of it.values()) {
          now.n++;
          emit(now);
        }
      }),
    ],
    [
      'what values were reduced to',
      keyed(
        { it: reducingState<Tally>({ reduce: (into, { n }) => Object.assign(into, { n: into.n + n }) }) },
        (_n, { state: { it } }, emit) => {
          it.add({ n: 1 });
          emit(it.value());
        },
      ),
    ],
    [
      'an accumulator that is the result as well',
      keyed(
        {
          it: aggregatingState({
            create: () => ({ n: 0 }),
            add: (into: Tally, n: number) => Object.assign(into, { n: into.n + n }),
            result: (into) => into,
          }),
        },
        (_n, { state: { it } }, emit) => {
          it.add(1);
          emit(it.value());
        },
      ),
    ],
    [
      'an accumulator of scan that is changed in place',
      (context) =>
        scanOperator<number, Tally, string>(context, {
          keyOf: () => 'all',
          seed: () => ({ n: 0 }),
          accumulate: (into) => Object.assign(into, { n: into.n + 1 }),
        }),
    ],
    [
      'an element of a list of the subtask',
      subtask({ it: operatorListState<Tally>() }, (n, { state: { it } }, emit) => {
        if (n === 1) it.add({ n: 0 });
        const [now] = it.values();
        tally(now).n++;
        emit(now);
      }),
    ],
    [
      'an element of a union list that takes the place of all',
      subtask({ it: unionListState<Tally>() }, (n, { state: { it } }, emit) => {
        const now = n === 1 ? { n: 0 } : tally(it.values()[0]);
        now.n++;
        emit(now);
        it.replace([now]);
      }),
    ],
    [
      'a value of broadcast state',
      subtask({ it: broadcastState<string, Tally>() }, (_n, { state: { it } }, emit) => {
        const now = it.get('a') ?? { n: 0 };
        now.n++;
        it.set('a', now);
        emit(now);
      }),
    ],
  ])('%s', async (_what, make) => {
    expect(await threeOf(make)).toEqual(COUNTED);
  });

  test('the list of a subtask as a whole, and an entry of broadcast state', async () => {
    const list = subtask({ it: operatorListState<number>() }, (n, { state: { it } }, emit) => {
      it.add(n);
      emit(it.values());
    });
    expect(await threeOf(list)).toEqual([[1], [1, 2], [1, 2, 3]]);
    const entry = subtask({ it: broadcastState<string, Tally>() }, (n, { state: { it } }, emit) => {
      it.set('a', { n });
      for (const each of it.entries()) emit(each);
    });
    const [first] = (await threeOf(entry)) as [string, Tally][];
    expect(first).toEqual(['a', { n: 1 }]);
  });

  test('a value that a timer reads and changes', async () => {
    const bench = await OperatorBench.open((context) =>
      keyedProcessOperator<number, string, { readonly it: ReturnType<typeof valueState<Tally>> }, unknown>(context, {
        keyOf: () => 'all',
        state: { it: valueState<Tally>() },
        onRecord(n, { state: { it }, timers }) {
          it.update({ n: 0 });
          timers.registerEventTime(n);
        },
        onTimer(_time, { state: { it } }, emit) {
          const now = tally(it.value());
          now.n++;
          it.update(now);
          emit(now);
        },
      }),
    );
    bench.send(batch([1, 2, 3]));
    bench.send({ kind: 'watermark', time: 10 });
    expect(bench.records).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test('a value that both inputs of coProcess share', async () => {
    const onRecord = (
      _n: number,
      { state: { it } }: KeyContext<string, { it: ReturnType<typeof valueState<Tally>> }>,
      emit: Emit<unknown>,
    ): undefined => {
      const now = it.value() ?? { n: 0 };
      now.n++;
      it.update(now);
      emit(now);
    };
    const bench = await OperatorBench.open((context) =>
      coProcessOperator<number, number, string, { it: ReturnType<typeof valueState<Tally>> }, unknown>(context, {
        firstKeyOf: () => 'all',
        secondKeyOf: () => 'all',
        state: { it: valueState<Tally>() },
        onFirst: onRecord,
        onSecond: onRecord,
      }),
    );
    bench.send(batch([1]), 0);
    bench.send(batch([1, 1]), 1);
    bench.send(batch([1]), 0);
    expect(bench.records).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  });

  test('a consumer that changes what it was given does not reach the state', async () => {
    const bench = await OperatorBench.open(countedInPlace({}));
    for (let i = 1; i <= 3; i++) {
      bench.send(batch([i]));
      tally(bench.records.at(-1)).n = 100;
    }
    bench.send(batch([4]));
    expect(bench.records.at(-1)).toEqual({ n: 4 });
  });

  test('more records in one call than can wait for its end, kept by state before and behind them', async () => {
    const many = keyed({ it: valueState<Tally>() }, (n, { state: { it } }, emit) => {
      const now = it.value() ?? { n: 0 };
      now.n++;
      for (let i = 0; i < BATCH_SIZE * 9; i++) emit(now);
      if (n === 1) it.update(now);
    });
    const records = await threeOf(many);
    expect(records.map((record) => tally(record).n)).toEqual(
      [1, 2, 3].flatMap((n) => Array<number>(BATCH_SIZE * 9).fill(n)),
    );
  });

  test.each<[string, () => object]>([
    ['an array', () => [1]],
    ['a map', () => new Map([['a', 1]])],
    ['a set', () => new Set([1])],
    ['a date', () => new Date(5)],
    ['bytes', () => Uint8Array.of(1, 2)],
    ['a buffer', () => Buffer.from('ab')],
    ['an object without prototype', () => Object.assign(Object.create(null) as object, { a: 1 })],
  ])('%s comes out as it went in', async (_what, make) => {
    const [one, two] = await threeOf(
      keyed({ it: valueState<object>() }, (_n, { state: { it } }, emit) => {
        if (it.value() === undefined) it.update(make());
        emit(it.value());
      }),
    );
    expect(one).toEqual(make());
    expect(Object.getPrototypeOf(one)).toBe(Object.getPrototypeOf(make()));
    expect(one).not.toBe(two);
  });
});

describe('no copy is made', () => {
  test('of what a value state does not hold, nor of a frozen array', async () => {
    const frozen = Object.freeze([7]);
    const made: object[] = [];
    const records = await threeOf(
      keyed({ it: valueState<object>() }, (n, { state: { it } }, emit) => {
        const own = { n };
        made.push(own);
        it.update(frozen);
        emit(own);
        emit(it.value());
      }),
    );
    for (const [i, own] of made.entries()) expect(records[2 * i]).toBe(own);
    expect(records[1]).toBe(frozen);
  });

  test('of an instance of a class beside others of a list', async () => {
    const made: Date[] = [];
    const records = await threeOf(
      keyed({ all: listState<Date>() }, (n, { state: { all } }, emit) => {
        all.add(new Date(n));
        expect([...all.values()]).toHaveLength(n);
        made.push(new Date(n));
        emit(made.at(-1));
      }),
    );
    for (const [i, own] of made.entries()) expect(records[i]).toBe(own);
  });
});
