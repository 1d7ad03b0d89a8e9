import { createMemoryStateBackend } from '@weir/backend-memory';
import {
  SILENT,
  defaultSerializer,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type StateExpiry,
  type StateKind,
  type ValueState,
} from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';

/** What is negative has expired. Counts how often it is asked. */
function counting(): StateExpiry & { asked: number } {
  const expiry = {
    asked: 0,
    shown: (stored: unknown) => stored,
    isExpired(stored: unknown): boolean {
      expiry.asked++;
      return (stored as number) < 0;
    },
  };
  return expiry;
}

async function open(
  kind: StateKind,
): Promise<{ readonly store: KeyedStateStore; readonly expiry: ReturnType<typeof counting> }> {
  const expiry = counting();
  const store = await createMemoryStateBackend().open({
    job: 'orders',
    operator: 'totals',
    subtask: 0,
    keyGroups: { first: 0, last: 127 },
    maxParallelism: 128,
    states: [{ name: 'state', kind, serializer: defaultSerializer, expiry }],
    clock: new VirtualClock(),
    logger: SILENT,
  });
  return { store, expiry };
}
const sizeOf = (store: KeyedStateStore): number => [...store.entries('state')].length;

test('a sweep looks at no more entries than it may', async () => {
  const { store, expiry } = await open('value');
  const state = store.handle('state') as ValueState<number>;
  for (let key = 0; key < 10_000; key++) {
    store.setCurrentKey(key);
    state.update(-1);
  }
  for (let sweep = 1; sweep <= 5; sweep++) {
    store.sweep!('state', 100);
    // The end of a page takes a look, too.
    expect(expiry.asked).toBeLessThanOrEqual(100 * sweep);
    expect(expiry.asked).toBeGreaterThan(95 * sweep);
    expect(sizeOf(store)).toBe(10_000 - expiry.asked);
  }
});

test('sweeps go round and round, so that what expires later is found later', async () => {
  const { store } = await open('value');
  const state = store.handle('state') as ValueState<number>;
  const put = (value: number): void => {
    for (let key = 0; key < 500; key++) {
      store.setCurrentKey(key);
      state.update(value);
    }
  };
  put(1);
  for (let sweep = 0; sweep < 20; sweep++) store.sweep!('state', 300);
  expect(sizeOf(store)).toBe(500);
  put(-1);
  // No round is longer than the entries and, for each key group, one look that shows its end.
  for (let sweep = 0; sweep < 5; sweep++) store.sweep!('state', 300);
  expect(sizeOf(store)).toBe(0);
});

test('a sweep of few entries ends with its round', async () => {
  const { store, expiry } = await open('value');
  store.setCurrentKey('a');
  (store.handle('state') as ValueState<number>).update(1);
  store.sweep!('state', 1_000_000);
  expect(expiry.asked).toBeLessThanOrEqual(2);
});

test('a sweep stops in the middle of a large map and goes on there, also when entries come and go', async () => {
  const { store, expiry } = await open('map');
  const state = store.handle('state') as MapState<number, number>;
  store.setCurrentKey('large');
  for (let i = 0; i < 1000; i++) state.set(i, i % 2 === 0 ? -1 : 1);
  store.sweep!('state', 101);
  expect(expiry.asked).toBe(101);
  expect(sizeOf(store)).toBe(949);
  store.setCurrentKey('large');
  state.delete(101);
  state.set(1000, -1);
  for (let sweep = 0; sweep < 10; sweep++) store.sweep!('state', 101);
  expect(sizeOf(store)).toBe(499);
});

test('a map that is made after another was cleared under a sweep is left alone', async () => {
  const { store } = await open('map');
  const state = store.handle('state') as MapState<number, number>;
  store.setCurrentKey('a');
  for (let i = 0; i < 10; i++) state.set(i, -1);
  store.sweep!('state', 3);
  store.setCurrentKey('a');
  state.clear();
  for (let i = 0; i < 10; i++) state.set(i, 1);
  for (let sweep = 0; sweep < 20; sweep++) store.sweep!('state', 3);
  expect(sizeOf(store)).toBe(10);
});

test('of a list that lives on, only what was added last is looked at', async () => {
  const { store, expiry } = await open('list');
  const state = store.handle('state') as ListState<number>;
  store.setCurrentKey('a');
  for (let i = 0; i < 1000; i++) state.add(-1);
  state.add(1);
  store.sweep!('state', 10);
  expect(expiry.asked).toBe(1);
  expect([...state.values()]).toHaveLength(1001);
});
