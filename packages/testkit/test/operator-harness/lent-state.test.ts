import {
  defaultSerializer,
  SILENT,
  systemClock,
  type Key,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type StateDeclaration,
  type ValueState,
} from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { createReferenceStateBackend } from '../../src/index.js';
import { LentState } from '../../src/operator-harness/lent-state.js';

const states: readonly StateDeclaration[] = (['value', 'list', 'map'] as const).map((kind) => ({
  name: kind,
  kind,
  serializer: defaultSerializer,
}));

interface Bench {
  readonly value: ValueState<{ count: number }>;
  readonly list: ListState<{ count: number }>;
  readonly map: MapState<Key, { count: number }>;
  readonly endCallback: () => void;
  /** Of every violation, also those that somebody catches. */
  readonly told: readonly Error[];
  mayUse: boolean;
}

async function bench(): Promise<Bench> {
  const store: KeyedStateStore = await createReferenceStateBackend().open({
    job: 'job',
    operator: 'counter',
    subtask: 0,
    keyGroups: { first: 0, last: 127 },
    maxParallelism: 128,
    states,
    clock: systemClock,
    logger: SILENT,
  });
  const told: Error[] = [];
  const lent = new LentState({
    operator: 'counter',
    mayUse: () => made.mayUse,
    isSpared: () => false,
    violated: (error) => told.push(error),
  });
  const lending = lent.lendFrom(store, states);
  lending.setCurrentKey('k');
  const made: Bench = {
    value: lending.handle('value') as Bench['value'],
    list: lending.handle('list') as Bench['list'],
    map: lending.handle('map') as Bench['map'],
    endCallback: () => {
      lent.takeBack();
    },
    told,
    mayUse: true,
  };
  return made;
}

const KEPT = /PROTOCOL_VIOLATION: Operator counter used .* after the callback that got it had returned/;

describe('lent state', () => {
  test('is all there within a callback and in the next', async () => {
    const { value, list, map, endCallback } = await bench();
    expect(value.value()).toBeUndefined();
    value.update({ count: 1 });
    list.add({ count: 2 });
    map.set('m', { count: 3 });
    endCallback();
    expect(value.value()).toEqual({ count: 1 });
    expect([...list.values()]).toEqual([{ count: 2 }]);
    expect([...map.entries()]).toEqual([['m', { count: 3 }]]);
    map.delete('m');
    list.clear();
    value.clear();
    expect([value.value(), [...list.values()], map.get('m')]).toEqual([undefined, [], undefined]);
    map.set('m', { count: 4 });
    map.clear();
    expect([...map.entries()]).toEqual([]);
  });

  test('names the state whose value is used too late', async () => {
    const { value, list, map, endCallback } = await bench();
    value.update({ count: 1 });
    list.add({ count: 2 });
    map.set('m', { count: 3 });
    const kept = [value.value(), [...list.values()][0], map.get('m'), [...map.entries()][0]?.[1]];
    endCallback();
    for (const [i, name] of ['value', 'list', 'map', 'map'].entries()) {
      expect(() => kept[i]?.count).toThrow(KEPT);
      expect(() => kept[i]?.count).toThrow(`a value of state '${name}'`);
    }
  });

  test('ends an iterator with its callback, also in the middle', async () => {
    const { list, endCallback } = await bench();
    list.add({ count: 1 });
    list.add({ count: 2 });
    const all = list.values();
    const half = all[Symbol.iterator]();
    half.next();
    endCallback();
    expect(() => half.next()).toThrow(KEPT);
    expect(() => [...all]).toThrow(KEPT);
  });

  test('keeps what was written, not the object it was written with', async () => {
    const { value, list, map } = await bench();
    const mine = { count: 1 };
    value.update(mine);
    list.add(mine);
    map.set('m', mine);
    mine.count = 99;
    expect([value.value(), [...list.values()], map.get('m')]).toEqual([{ count: 1 }, [{ count: 1 }], { count: 1 }]);
  });

  test('cannot be used between callbacks', async () => {
    const made = await bench();
    made.mayUse = false;
    expect(() => made.value.value()).toThrow(KEPT);
    expect(() => {
      made.list.add({ count: 1 });
    }).toThrow("the handle of state 'list'");
    expect(() => {
      made.map.clear();
    }).toThrow(KEPT);
    expect(made.told).toHaveLength(3);
  });
});
