import assert from 'node:assert/strict';
import {
  SILENT,
  keyGroupOf,
  keyGroupRange,
  subtaskOfKeyGroup,
  type CheckpointId,
  type Key,
  type KeyGroupRange,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateStore,
  type StateBackend,
  type StateDeclaration,
} from '@weir/core/contracts';
import { VirtualClock } from '../virtual-clock.js';
import { bystander, contentsOfStores, withoutBystanders, type Contents } from './contents.js';
import { DECLARATIONS, MAX_PARALLELISM, type States } from './declarations.js';
import { Photograph } from './photograph.js';
import { SteppedWrite } from './stepped-write.js';

/** Where the stores of a test come from. */
export type Origin = 'fresh' | 'restored' | 'halved' | 'doubled';
export const ORIGINS: Readonly<Record<Origin, string>> = {
  fresh: 'in a fresh store',
  restored: 'in a store restored from its own snapshot',
  halved: 'in stores restored into half of the key groups',
  doubled: 'in stores restored into double the key groups',
};

/** How many stores share the key groups, from one restore to the next. */
const PARALLELISM: Readonly<Record<Origin, readonly number[]>> = {
  fresh: [1],
  restored: [1],
  halved: [1, 2, 4],
  doubled: [8, 4, 2, 1],
};

const BYSTANDERS = 30;

/** The keyed state of one operator over all key groups, in one store or several. */
export class KeyedStores {
  readonly backend: StateBackend;
  readonly #origin: Origin;
  #generation = 0;
  #stores: readonly KeyedStateStore[] = [];
  #nextCheckpoint: CheckpointId = 1;

  private constructor(backend: StateBackend, origin: Origin) {
    this.backend = backend;
    this.#origin = origin;
  }

  /** Stores without state, but for bystanders where they are restored ones. */
  static async open(backend: StateBackend, origin: Origin): Promise<KeyedStores> {
    const stores = new KeyedStores(backend, origin);
    stores.#stores = await stores.#openAll();
    if (origin === 'fresh') return stores;
    for (let i = 0; i < BYSTANDERS; i++) {
      const { count, last, items, index } = stores.at(bystander(i));
      count.update(i);
      last.update({ i });
      for (let j = 0; j <= i; j++) items.add(j);
      for (let j = 0; j <= i; j++) index.set(j, String(i));
    }
    await stores.carryOver();
    return stores;
  }

  /** The handles, working on `key`. */
  at(key: Key): States {
    const store = this.storeOf(key);
    store.setCurrentKey(key);
    return {
      count: store.handle('count') as States['count'],
      last: store.handle('last') as States['last'],
      items: store.handle('items') as States['items'],
      index: store.handle('index') as States['index'],
    };
  }
  storeOf(key: Key): KeyedStateStore {
    const group = keyGroupOf(key, MAX_PARALLELISM);
    return this.#stores[subtaskOfKeyGroup(group, this.#stores.length, MAX_PARALLELISM)]!;
  }
  get all(): readonly KeyedStateStore[] {
    return this.#stores;
  }
  get isOverBudget(): boolean {
    return this.#stores.some((store) => store.isOverBudget());
  }
  get contents(): Contents {
    return withoutBystanders(contentsOfStores(this.#stores));
  }

  photograph(): Photograph {
    return new Photograph(this.#capture());
  }

  /** Goes on in stores restored from a snapshot of these; where the origin is fresh, in the same. */
  async carryOver(): Promise<void> {
    if (this.#origin === 'fresh') return;
    const sections: KeyedSection[] = [];
    for (const { capture } of this.#capture()) {
      sections.push(...(await new SteppedWrite(capture).finish()));
      capture.release();
    }
    await this.#closeAll();
    this.#generation++;
    this.#stores = await this.#openAll();
    for (const [i, store] of this.#stores.entries()) {
      const range = this.#range(i);
      for (const section of sections) {
        if (section.keyGroup >= range.first && section.keyGroup <= range.last) store.restore(section);
      }
    }
  }

  /** Fails if what the test did not touch has changed. */
  async close(): Promise<void> {
    if (this.#origin !== 'fresh') {
      const { count, last, items, index } = contentsOfStores(this.#stores);
      for (let i = 0; i < BYSTANDERS; i++) {
        const key = `'${bystander(i)}'`;
        assert.deepStrictEqual(
          [count.get(key), last.get(key), items.get(key)?.length, index.get(key)?.size],
          [i, { i }, i + 1, i + 1],
          `the state of ${key}, which was not touched`,
        );
      }
    }
    await this.#closeAll();
  }

  #capture(): { readonly capture: KeyedCapture; readonly range: KeyGroupRange }[] {
    const checkpointId = this.#nextCheckpoint++;
    return this.#stores.map((store, i) => ({
      capture: store.capture({ checkpointId, mode: 'full' }),
      range: this.#range(i),
    }));
  }
  #range(subtask: number): KeyGroupRange {
    return keyGroupRange(subtask, this.#parallelism(), MAX_PARALLELISM);
  }
  #parallelism(): number {
    const steps = PARALLELISM[this.#origin];
    return steps[Math.min(this.#generation, steps.length - 1)]!;
  }
  async #openAll(): Promise<KeyedStateStore[]> {
    const stores: KeyedStateStore[] = [];
    for (let i = 0; i < this.#parallelism(); i++) stores.push(await openStore(this.backend, this.#range(i), i));
    return stores;
  }
  async #closeAll(): Promise<void> {
    for (const store of this.#stores) await store.close();
  }
}

export async function openStore(
  backend: StateBackend,
  keyGroups: KeyGroupRange = { first: 0, last: MAX_PARALLELISM - 1 },
  subtask = 0,
  states: readonly StateDeclaration[] = DECLARATIONS,
): Promise<KeyedStateStore> {
  return backend.open({
    job: 'orders',
    operator: 'totals',
    subtask,
    keyGroups,
    maxParallelism: MAX_PARALLELISM,
    states,
    clock: new VirtualClock(),
    logger: SILENT,
  });
}
