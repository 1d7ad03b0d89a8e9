import {
  SILENT,
  defaultSerializer,
  keyGroupOf,
  systemClock,
  type Key,
  type KeyGroupRange,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type StateDeclaration,
  type ValueState,
} from '@weir/core/contracts';
import type { RocksDriver } from '../../src/driver/rocks-driver.js';
import { createRocksStateBackendOver } from '../../src/rocks-state-backend.js';
import type { RocksStateOptions } from '../../src/rocks-state-backend.js';

export const MAX_PARALLELISM = 16;
export const ALL: KeyGroupRange = { first: 0, last: MAX_PARALLELISM - 1 };
export const STATES: readonly StateDeclaration[] = [
  { name: 'value', kind: 'value', serializer: defaultSerializer },
  { name: 'list', kind: 'list', serializer: defaultSerializer },
  { name: 'map', kind: 'map', serializer: defaultSerializer },
];

export interface OpenStore extends AsyncDisposable {
  readonly store: KeyedStateStore;
  readonly value: ValueState<unknown>;
  readonly list: ListState<unknown>;
  readonly map: MapState<Key, unknown>;
  /** Something in every state of so many keys; keys of other subtasks are left out. */
  fill(from: number, to: number, round: number): void;
  /** All of it, in an order that does not depend on where it comes from. */
  contents(): readonly string[];
}

export interface StoreSettings extends RocksStateOptions {
  readonly range?: KeyGroupRange;
  readonly states?: readonly StateDeclaration[];
}

/** A store that is closed at the end of its block. Its database makes files of little data. */
export async function openStore(driver: RocksDriver, dir: string, settings: StoreSettings = {}): Promise<OpenStore> {
  const { range = ALL, states = STATES, ...options } = settings;
  const store = await createRocksStateBackendOver(driver, { dir, memtableSize: 1 << 16, ...options }).open({
    job: 'orders',
    operator: 'totals',
    subtask: 0,
    keyGroups: range,
    maxParallelism: MAX_PARALLELISM,
    states,
    clock: systemClock,
    logger: SILENT,
  });
  const value = store.handle('value') as ValueState<unknown>;
  const list = store.handle('list') as ListState<unknown>;
  const map = store.handle('map') as MapState<Key, unknown>;
  return {
    store,
    value,
    list,
    map,
    fill(from, to, round) {
      for (let i = from; i < to; i++) {
        const group = keyGroupOf(`key-${String(i)}`, MAX_PARALLELISM);
        if (group < range.first || group > range.last) continue;
        store.setCurrentKey(`key-${String(i)}`);
        value.update({ i, round });
        list.add(round);
        map.set(round, `${String(i)} in ${String(round)}`);
      }
    },
    contents: () =>
      states.flatMap(({ name }) => Array.from(store.entries(name), (entry) => JSON.stringify([name, entry]))).sort(),
    async [Symbol.asyncDispose]() {
      await store.close();
    },
  };
}
