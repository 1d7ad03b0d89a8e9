import { fc, test as property } from '@fast-check/vitest';
import { VirtualClock, createReferenceStateBackend } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { SILENT } from '../../src/contracts/logger.js';
import type { KeyGroupRange, OperatorSnapshot } from '../../src/contracts/snapshot.js';
import type { KeyedStateStore } from '../../src/contracts/state-backend.js';
import { batch } from '../../src/element/element.js';
import { keyGroupOf } from '../../src/element/key-group.js';
import type { Key } from '../../src/element/key.js';
import { KEY_TYPES } from '../../src/element/key-type.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { aggregatingState, listState, mapState, reducingState, valueState } from '../../src/state/descriptors.js';
import type { StateTtl } from '../../src/state/ttl.js';
import { OperatorBench } from '../support/operator-bench.js';

const AFTER = 100;

type Op =
  | { readonly kind: 'write'; readonly key: Key; readonly n: number }
  | { readonly kind: 'read'; readonly key: Key }
  | { readonly kind: 'get'; readonly key: Key; readonly n: number }
  | { readonly kind: 'clear'; readonly key: Key };

const STATES = (ttl: StateTtl | undefined) => ({
  value: valueState<number>({ ttl }),
  counted: valueState<number>({ ttl, initial: () => 0 }),
  list: listState<{ n: number }>({ ttl }),
  map: mapState<number, number>({ ttl }),
  largest: reducingState<number>({ ttl, reduce: Math.max }),
  mean: aggregatingState<number, number[], number>({
    ttl,
    create: () => [],
    add: (values, n) => [...values, n],
    result: (values) => values.reduce((sum, n) => sum + n, 0) / values.length,
  }),
});

/** Writes `n` to a state of each kind, and tells all that is in them when it reads. */
const make =
  (ttl: StateTtl | undefined) =>
  (context: OperatorContext): Operator =>
    keyedProcessOperator<Op, Key, ReturnType<typeof STATES>, unknown>(context, {
      keyOf: ({ key }) => key,
      // Of whatever types they are, and whichever comes first behind a restore.
      keyTypes: KEY_TYPES,
      state: STATES(ttl),
      onRecord(op, { state: { value, counted, list, map, largest, mean } }, emit) {
        switch (op.kind) {
          case 'write':
            value.update(op.n);
            counted.update(counted.value() + 1);
            list.add({ n: op.n });
            map.set(op.n, op.n);
            largest.add(op.n);
            mean.add(op.n);
            break;
          case 'get':
            emit(map.get(op.n));
            break;
          case 'clear':
            for (const state of [value, counted, list, map, largest, mean]) state.clear();
            break;
          case 'read':
            emit({
              value: value.value(),
              counted: counted.value(),
              list: [...list.values()].map(({ n }) => n),
              map: [...map.entries()].toSorted(([a], [b]) => a - b),
              largest: largest.value(),
              mean: mean.value(),
            });
        }
      },
    });
const NOTHING = { value: undefined, counted: 0, list: [], map: [], largest: undefined, mean: undefined };

interface Timed<T> {
  readonly value: T;
  since: number;
}

/** What {@link make} must tell, by the definition. */
class Model {
  readonly #refreshes: boolean;
  readonly #keys = new Map<Key, Timed<number>[]>();
  readonly #singles = new Map<string, Timed<unknown>>();
  readonly #maps = new Map<Key, Map<number, Timed<number>>>();
  now = 0;

  constructor(refreshes: boolean) {
    this.#refreshes = refreshes;
  }

  apply(op: Op): unknown[] {
    const { key } = op;
    switch (op.kind) {
      case 'write':
        this.#write(`value ${String(key)}`, op.n);
        this.#write(`counted ${String(key)}`, ((this.#read(`counted ${String(key)}`) as number | undefined) ?? 0) + 1);
        this.#keys.set(key, [...(this.#keys.get(key) ?? []), { value: op.n, since: this.now }]);
        this.#mapOf(key).set(op.n, { value: op.n, since: this.now });
        this.#write(
          `largest ${String(key)}`,
          Math.max(op.n, (this.#read(`largest ${String(key)}`) as number | undefined) ?? op.n),
        );
        this.#write(`mean ${String(key)}`, [
          ...((this.#read(`mean ${String(key)}`) as number[] | undefined) ?? []),
          op.n,
        ]);
        return [];
      case 'clear':
        this.#keys.delete(key);
        this.#maps.delete(key);
        for (const state of ['value', 'counted', 'largest', 'mean']) this.#singles.delete(`${state} ${String(key)}`);
        return [];
      case 'get': {
        const found = this.#mapOf(key).get(op.n);
        return [found === undefined ? undefined : this.#touch(found)?.value];
      }
      case 'read': {
        const mean = this.#read(`mean ${String(key)}`) as number[] | undefined;
        const list = (this.#keys.get(key) ?? []).filter((each) => this.#touch(each) !== undefined);
        this.#keys.set(key, list);
        return [
          {
            value: this.#read(`value ${String(key)}`),
            counted: this.#read(`counted ${String(key)}`) ?? 0,
            list: list.map(({ value }) => value),
            map: [...this.#mapOf(key).entries()]
              .filter(([, each]) => this.#touch(each) !== undefined)
              .map(([mapKey, { value }]) => [mapKey, value])
              .toSorted(([a], [b]) => (a as number) - (b as number)),
            largest: this.#read(`largest ${String(key)}`),
            mean: mean === undefined ? undefined : mean.reduce((sum, n) => sum + n, 0) / mean.length,
          },
        ];
      }
    }
  }

  #mapOf(key: Key): Map<number, Timed<number>> {
    const map = this.#maps.get(key) ?? new Map<number, Timed<number>>();
    this.#maps.set(key, map);
    return map;
  }
  #write(name: string, value: unknown): void {
    this.#singles.set(name, { value, since: this.now });
  }
  #read(name: string): unknown {
    const found = this.#singles.get(name);
    return found === undefined ? undefined : this.#touch(found)?.value;
  }
  #touch<T>(timed: Timed<T>): Timed<T> | undefined {
    if (this.now - timed.since >= AFTER) return undefined;
    if (this.#refreshes) timed.since = this.now;
    return timed;
  }
}

type Step =
  Op | { readonly kind: 'pass'; readonly ms: number } | { readonly kind: 'restore'; readonly downtime: number };
const key = fc.constantFrom<Key>('a', 'b', 1);
const n = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), key, n }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const), key }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('get' as const), key, n }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 40, 99, 100) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), downtime: fc.constantFrom(0, 60, 100) }) },
);

const LOWER: KeyGroupRange = { first: 0, last: 63 };
const UPPER: KeyGroupRange = { first: 64, last: 127 };

describe.each(['on-write', 'on-read-and-write'] as const)('state that expires %s', (update) => {
  property.prop([fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 1000)])(
    'never gives what has expired, and all that has not, also over restores and the time between',
    async (steps, cleanupPerRecord) => {
      const operator = make({ after: AFTER, update, cleanupPerRecord });
      const clock = new VirtualClock();
      const model = new Model(update === 'on-read-and-write');
      let bench = await OperatorBench.open(operator, { clock });
      const expected: unknown[] = [];
      const told: unknown[] = [];
      for (const each of steps) {
        switch (each.kind) {
          case 'pass':
            await clock.advance(each.ms);
            break;
          case 'restore': {
            const restore = await bench.snapshot();
            told.push(...bench.records);
            await clock.advance(each.downtime);
            bench = await OperatorBench.open(operator, { clock, restore });
            break;
          }
          default:
            model.now = clock.now();
            expected.push(...model.apply(each));
            bench.send(batch([each]));
        }
      }
      expect([...told, ...bench.records]).toEqual(expected);
      expect(bench.errors).toEqual([]);
    },
  );
});

async function opened(ttl: StateTtl | undefined, clock: VirtualClock, restore?: readonly OperatorSnapshot[]) {
  return OperatorBench.open(make(ttl), { clock, ...(restore && { restore }) });
}
const read = (of: Key): Op => ({ kind: 'read', key: of });
const write = (of: Key, value: number): Op => ({ kind: 'write', key: of, n: value });
const ALL_OF_7 = { value: 7, counted: 1, list: [7], map: [[7, 7]], largest: 7, mean: 7 };

test('what expires while the job is down is not there when it comes back', async () => {
  const clock = new VirtualClock();
  const before = await opened({ after: AFTER }, clock);
  before.send(batch([write('a', 7)]));
  await clock.advance(50);
  const restore = await before.snapshot();
  await clock.advance(49);
  const early = await opened({ after: AFTER }, clock, restore);
  early.send(batch([read('a')]));
  await clock.advance(1);
  const late = await opened({ after: AFTER }, clock, restore);
  late.send(batch([read('a')]));
  expect([...early.records, ...late.records]).toEqual([ALL_OF_7, NOTHING]);
});

test('the time to live that is declared now holds for what was stored under another', async () => {
  const clock = new VirtualClock();
  const before = await opened({ after: AFTER }, clock);
  before.send(batch([write('a', 7)]));
  const restore = await before.snapshot();
  await clock.advance(70);
  const longer = await opened({ after: 200 }, clock, restore);
  const shorter = await opened({ after: 60 }, clock, restore);
  for (const bench of [longer, shorter]) bench.send(batch([read('a')]));
  expect([...longer.records, ...shorter.records]).toEqual([ALL_OF_7, NOTHING]);
});

test('state is given a time to live when it is restored, or loses it', async () => {
  const clock = new VirtualClock(1000);
  const endless = await opened(undefined, clock);
  endless.send(batch([write('a', 7)]));
  await clock.advance(500);
  const mortal = await opened({ after: AFTER }, clock, await endless.snapshot());
  await clock.advance(99);
  mortal.send(batch([read('a')]));
  const again = await opened(undefined, clock, await mortal.snapshot());
  await clock.advance(1);
  mortal.send(batch([read('a')]));
  again.send(batch([read('a')]));
  expect([...mortal.records, ...again.records]).toEqual([ALL_OF_7, NOTHING, ALL_OF_7]);
});

test('a full snapshot leaves out what has expired, and the state itself is as it was', async () => {
  const clock = new VirtualClock();
  const bench = await opened({ after: AFTER, cleanupPerRecord: 0 }, clock);
  bench.send(batch(Array.from({ length: 100 }, (_, i) => write(i, 7))));
  await clock.advance(50);
  bench.send(batch([write(1000, 7)]));
  const all = await bench.snapshot();
  await clock.advance(50);
  const live = await bench.snapshot();
  const [lean, empty] = [await opened({ after: AFTER }, clock), await opened({ after: AFTER }, clock)];
  lean.send(batch([write(1000, 7)]));
  expect(bytesOf(live)).toBe(bytesOf(await lean.snapshot()));
  expect(bytesOf(all)).toBeGreaterThan(50 * bytesOf(live));
  await clock.advance(50);
  expect(bytesOf(await bench.snapshot())).toBe(bytesOf(await empty.snapshot()));
});

test('a job that is rescaled takes the stamps along', async () => {
  const clock = new VirtualClock();
  const keys = Array.from({ length: 20 }, (_, i) => i);
  const ttl: StateTtl = { after: AFTER };
  const before = await opened(ttl, clock);
  before.send(batch(keys.slice(0, 10).map((each) => write(each, 7))));
  await clock.advance(60);
  before.send(batch(keys.slice(10).map((each) => write(each, 7))));
  const restore = await before.snapshot();
  await clock.advance(60);
  const halves = await Promise.all(
    [LOWER, UPPER].map(async (keyGroups) => OperatorBench.open(make(ttl), { clock, keyGroups, restore })),
  );
  const told = halves.map((half, i) => {
    const { first, last } = [LOWER, UPPER][i]!;
    const own = keys.filter((each) => keyGroupOf(each, 128) >= first && keyGroupOf(each, 128) <= last);
    half.send(batch(own.map(read)));
    return half.records.filter((record) => (record as typeof ALL_OF_7).value === 7).length;
  });
  expect(told[0]! + told[1]!, 'the younger half of the keys').toBe(10);
});

test('timers of a key outlive its state', async () => {
  const clock = new VirtualClock();
  const states = { seen: valueState<string>({ ttl: { after: AFTER } }) };
  const operator = (context: OperatorContext): Operator =>
    keyedProcessOperator<string, string, typeof states, string>(context, {
      keyOf: (record) => record,
      state: states,
      onRecord(record, { state: { seen }, timers }) {
        seen.update(record);
        timers.registerProcessingTime(2 * AFTER);
      },
      onTimer(_time, { key: of, state: { seen } }, emit) {
        emit(`${of} ${String(seen.value())}`);
      },
    });
  const timersOf = (on: VirtualClock): Partial<OperatorContext> => ({ timer: (ms, action) => on.timer(ms, action) });
  const before = await OperatorBench.open(operator, { clock, context: timersOf(clock) });
  before.send(batch(['a']));
  await clock.advance(AFTER);
  const restore = await before.snapshot();
  await before.operator.close?.('finished');
  const after = await OperatorBench.open(operator, { clock, restore, context: timersOf(clock) });
  await clock.advance(AFTER);
  expect([...before.records, ...after.records]).toEqual(['a undefined']);
});

describe('in the state backend', () => {
  /** How many entries the store has, of the states together. */
  const openedWithStore = async (ttl: StateTtl, clock: VirtualClock) => {
    let store: KeyedStateStore | undefined;
    const openKeyedState: OperatorContext['openKeyedState'] = async (states) =>
      (store = await createReferenceStateBackend().open({ ...SCOPE, states, clock }));
    const bench = await OperatorBench.open(make(ttl), { clock, context: { openKeyedState } });
    const count = (): number => Object.keys(STATES(ttl)).flatMap((name) => [...store!.entries(name)]).length;
    return { bench, count };
  };
  const KINDS = Object.keys(STATES(undefined)).length;

  test.each(['on-write', 'on-read-and-write'] as const)(
    'what has expired is removed when it is touched: %s',
    async (update) => {
      const clock = new VirtualClock();
      const { bench, count } = await openedWithStore({ after: AFTER, update, cleanupPerRecord: 0 }, clock);
      bench.send(batch([write('a', 7), write('b', 7)]));
      await clock.advance(AFTER);
      bench.send(batch([read('a')]));
      expect(count()).toBe(KINDS);
      bench.send(batch([read('b')]));
      expect(count()).toBe(0);
    },
  );

  test.each([
    [0, 1000],
    [1, 256],
    [5, 52],
    [1000, 1],
  ])(
    'what is never touched again is found if %i entries are looked at for each record',
    async (cleanupPerRecord, records) => {
      const clock = new VirtualClock();
      const { bench, count } = await openedWithStore({ after: AFTER, cleanupPerRecord }, clock);
      bench.send(batch([write('a', 7)]));
      await clock.advance(AFTER);
      const others = Array.from({ length: Math.max(0, records - 2) }, (): Op => ({ kind: 'get', key: 'b', n: 1 }));
      bench.send(batch(others));
      if (cleanupPerRecord < 256) expect(count(), 'not yet').toBe(KINDS);
      bench.send(batch([read('b')]));
      expect(count()).toBe(cleanupPerRecord === 0 ? KINDS : 0);
      expect(bench.records.at(-1)).toEqual(NOTHING);
    },
  );
});

const SCOPE = {
  job: 'job',
  operator: 'operator',
  subtask: 0,
  keyGroups: { first: 0, last: 127 },
  maxParallelism: 128,
  logger: SILENT,
};

function bytesOf(snapshot: readonly OperatorSnapshot[]): number {
  return snapshot
    .flatMap(({ keyed }) => keyed)
    .reduce(
      (sum, handle) =>
        sum + (handle.format !== 'native' && handle.blob.kind === 'inline' ? handle.blob.bytes.length : 0),
      0,
    );
}
