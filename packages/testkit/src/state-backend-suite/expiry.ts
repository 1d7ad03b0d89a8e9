import assert from 'node:assert/strict';
import {
  defaultSerializer,
  type Key,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type StateDeclaration,
  type StateExpiry,
  type ValueState,
} from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';
import type { StateBackendSuiteOptions } from './fixture.js';
import { openStore } from './keyed-stores.js';
import { SteppedWrite } from './stepped-write.js';

interface Mortal {
  readonly n: number;
  readonly isDead: boolean;
}
const expiry: StateExpiry = {
  isExpired: (stored) => (stored as Mortal).isDead,
  shown: (stored) => (stored as Mortal).n,
};
const DECLARATIONS: readonly StateDeclaration[] = [
  { name: 'last', kind: 'value', serializer: defaultSerializer, expiry },
  { name: 'items', kind: 'list', serializer: defaultSerializer, expiry },
  { name: 'index', kind: 'map', serializer: defaultSerializer, expiry },
];
const KEYS: readonly Key[] = [...Array.from({ length: 50 }, (_, i) => i), 'a', 'b', ['c', 1]];
const BUDGET = 7;

/** What states with an expiry need, of backends that sweep. */
export function expiryChecks(test: TestFunction, { create }: StateBackendSuiteOptions): void {
  test('sweeps away what is expired, step by step, and nothing else', async () => {
    const store = await openStore(await create(), undefined, undefined, DECLARATIONS);
    if (store.sweep !== undefined) {
      fill(store);
      for (let round = 0; round < 200; round++) for (const { name } of DECLARATIONS) store.sweep(name, BUDGET);
      assert.deepStrictEqual(
        countsOf(store),
        KEYS.map((_, i) => (i % 2 === 0 ? [undefined, 0, 1] : [i, 2, 2])),
        'values, elements and entries that are left of each key',
      );
    }
    await store.close();
  });

  test('keeps in a capture what is swept away after it', async () => {
    const store = await openStore(await create(), undefined, undefined, DECLARATIONS);
    if (store.sweep !== undefined) {
      fill(store);
      const before = countsOf(store);
      const capture = store.capture({ checkpointId: 1, mode: 'full' });
      const write = new SteppedWrite(capture);
      await write.step(2);
      for (let round = 0; round < 200; round++) for (const { name } of DECLARATIONS) store.sweep(name, BUDGET);
      const sections = await write.finish();
      capture.release();
      const restored = await openStore(await create(), undefined, undefined, DECLARATIONS);
      for (const section of sections) restored.restore(section);
      assert.deepStrictEqual(countsOf(restored), before, 'the state at the moment of the capture');
      await restored.close();
    }
    await store.close();
  });
}

/** Every other key has a dead value, a list of dead elements and a map that is half dead; the lists of the others are half dead. */
function fill(store: KeyedStateStore): void {
  for (const [n, key] of KEYS.entries()) {
    const isDead = n % 2 === 0;
    store.setCurrentKey(key);
    const { last, items, index } = handlesOf(store);
    last.update({ n, isDead });
    items.add({ n, isDead: true });
    items.add({ n, isDead });
    index.set(1, { n, isDead });
    index.set(2, { n, isDead: false });
  }
}

function handlesOf(store: KeyedStateStore): {
  readonly last: ValueState<Mortal>;
  readonly items: ListState<Mortal>;
  readonly index: MapState<number, Mortal>;
} {
  return {
    last: store.handle('last') as ValueState<Mortal>,
    items: store.handle('items') as ListState<Mortal>,
    index: store.handle('index') as MapState<number, Mortal>,
  };
}

function countsOf(store: KeyedStateStore): (readonly unknown[])[] {
  return KEYS.map((key) => {
    store.setCurrentKey(key);
    const { last, items, index } = handlesOf(store);
    return [last.value()?.n, [...items.values()].length, [...index.entries()].length];
  });
}
