import { describe, expect, test } from 'vitest';
import { openStore } from '../support/store.js';

describe('iterating', () => {
  test('over a list ends although elements are added meanwhile', async () => {
    const { store, list } = await openStore();
    store.setCurrentKey('a');
    for (const n of [1, 2, 3]) list.add(n);
    const seen: unknown[] = [];
    for (const n of list.values()) {
      seen.push(n);
      list.add(n);
    }
    expect(seen).toEqual([1, 2, 3]);
    expect([...list.values()]).toEqual([1, 2, 3, 1, 2, 3]);
  });

  test('over a list sees what it held, although it is cleared meanwhile', async () => {
    const { store, list } = await openStore();
    store.setCurrentKey('a');
    for (const n of [1, 2, 3]) list.add(n);
    const values = list.values();
    list.clear();
    list.add(4);
    expect([...values]).toEqual([1, 2, 3]);
    expect([...values]).toEqual([1, 2, 3]);
  });

  test('over a map is like iterating over a Map: deleted entries do not come, and none after it is cleared', async () => {
    const { store, map } = await openStore();
    store.setCurrentKey('a');
    for (const n of [1, 2, 3, 4]) map.set(n, n);
    const seen: unknown[] = [];
    for (const [n] of map.entries()) {
      seen.push(n);
      map.delete(2);
      if (n === 3) map.clear();
    }
    expect(seen).toEqual([1, 3]);
    expect([...map.entries()]).toEqual([]);
  });

  test('over the entries of one key goes on with them, whatever the key is by then', async () => {
    const { store, list, map } = await openStore();
    store.setCurrentKey('a');
    list.add(1);
    map.set('k', 1);
    const [values, entries] = [list.values(), map.entries()];
    store.setCurrentKey('b');
    list.add(2);
    map.set('k', 2);
    expect([...values]).toEqual([1]);
    expect([...entries]).toEqual([['k', 1]]);
  });
});

test('an error about state names operator and state', async () => {
  const { store, map } = await openStore();
  expect(() => store.handle('other')).toThrow(
    "STATE_UNKNOWN: Operator totals declares no state 'other'. It declares: value, list, map.",
  );
  expect(() => map.get('k')).toThrow(/STATE_NO_KEY: Keyed state of operator totals/);
  store.setCurrentKey('a');
  expect(() => map.set(Number.NaN, 1)).toThrow(/KEY_INVALID: State 'map' of operator 'totals'/);
});

test('rows that cannot be decoded are an unreadable checkpoint', async () => {
  const { store } = await openStore();
  const state = { name: 'value', kind: 'value', serializer: { id: 'msgpack', version: 1 } } as const;
  expect(() => {
    store.restore({ keyGroup: 3, state, count: 2, rows: Uint8Array.of(2, 5, 97, 1) });
  }).toThrow(/CHECKPOINT_UNREADABLE: State 'value' of operator 'totals' in key group 3/);
});
