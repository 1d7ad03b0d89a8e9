import type {
  CaptureRequest,
  CheckpointId,
  Key,
  KeyedCapture,
  KeyedSection,
  KeyedStateStore,
  RestoredBase,
  StateBackend,
  StateEntry,
  StateHandle,
  StateScope,
} from '@weir/core/contracts';
import { createReferenceStateBackend } from '@weir/testkit';
import { readChanges } from '@weir/core/contracts';
import { IncrementalCapture, heldBy, type Stored } from './incremental-capture.js';

/** Ways to get incremental checkpoints wrong. */
export type IncrementalFlaw =
  | 'goes on from what has not completed'
  | 'does not say what was removed'
  | 'goes on from what is not its own'
  | 'goes on from what others have stored as well'
  | 'writes everything each time'
  | 'captures changes where everything is asked for';

/** A state backend with incremental captures over one without. Right, except for its flaw. */
export function incrementalStateBackend(flaw?: IncrementalFlaw): StateBackend {
  const backend = createReferenceStateBackend();
  return {
    ...backend,
    capabilities: { ...backend.capabilities, incremental: true },
    open: async (scope) => new IncrementalStore(await backend.open(scope), scope, flaw),
  };
}

const NOTHING: Stored = { held: new Map(), handles: [] };

class IncrementalStore implements KeyedStateStore {
  readonly #store: KeyedStateStore;
  readonly #scope: StateScope;
  readonly #flaw: IncrementalFlaw | undefined;
  readonly #written = new Map<CheckpointId, Stored>();
  readonly #open = new Set<CheckpointId>();
  #base: Stored = NOTHING;

  constructor(store: KeyedStateStore, scope: StateScope, flaw: IncrementalFlaw | undefined) {
    this.#store = store;
    this.#scope = scope;
    this.#flaw = flaw;
  }

  setCurrentKey(key: Key): void {
    this.#store.setCurrentKey(key);
  }
  handle(name: string): StateHandle {
    return this.#store.handle(name);
  }
  capture(request: CaptureRequest): KeyedCapture {
    const { checkpointId, mode } = request;
    const always = this.#flaw === 'captures changes where everything is asked for';
    if (mode === 'full' && !always) return this.#store.capture(request);
    // While others are open that may complete first, the files of the base are not safe.
    const base = this.#flaw === 'writes everything each time' || this.#open.size > 0 ? NOTHING : this.#base;
    this.#open.add(checkpointId);
    const saysRemovals = this.#flaw !== 'does not say what was removed';
    return new IncrementalCapture(this.#scope, heldBy(this.#store, this.#scope), base, saysRemovals, (stored) => {
      if (this.#flaw === 'goes on from what has not completed') this.#base = stored;
      this.#written.set(checkpointId, stored);
    });
  }

  restore(section: KeyedSection): void {
    if (section.isChange !== true) {
      this.#store.restore(section);
      return;
    }
    const { serializer } = this.#scope.states.find(({ name }) => name === section.state.name)!;
    const at = <H extends StateHandle>(key: Key): H => {
      this.#store.setCurrentKey(key);
      return this.#store.handle(section.state.name) as H;
    };
    readChanges(section, serializer, {
      value: (key, value) => {
        at<StateHandle & { update(value: unknown): void }>(key).update(value);
      },
      list: (key, values) => {
        const list = at<StateHandle & { add(value: unknown): void }>(key);
        list.clear();
        for (const value of values) list.add(value);
      },
      append: (key, values) => {
        for (const value of values) at<StateHandle & { add(value: unknown): void }>(key).add(value);
      },
      map: (key, mapKey, value) => {
        at<StateHandle & { set(key: Key, value: unknown): void }>(key).set(mapKey, value);
      },
      remove: (key) => {
        at(key).clear();
      },
      removeEntry: (key, mapKey) => {
        at<StateHandle & { delete(key: Key): void }>(key).delete(mapKey);
      },
    });
  }
  restored({ handles, isOwned }: RestoredBase): void {
    const { first, last } = this.#scope.keyGroups;
    const isAlone = handles.every(({ range }) => range.first === first && range.last === last);
    const goesOn =
      (isOwned || this.#flaw === 'goes on from what is not its own') &&
      (isAlone || this.#flaw === 'goes on from what others have stored as well');
    if (goesOn) this.#base = { held: heldBy(this.#store, this.#scope), handles };
  }
  completed(checkpointId: CheckpointId): void {
    const stored = this.#written.get(checkpointId);
    if (stored === undefined) return;
    this.#base = stored;
    for (const id of this.#open) if (id <= checkpointId) this.#open.delete(id);
  }
  aborted(checkpointId: CheckpointId): void {
    this.#written.delete(checkpointId);
    this.#open.delete(checkpointId);
  }

  isOverBudget(): boolean {
    return this.#store.isOverBudget();
  }
  sweep(state: string, budget: number): void {
    this.#store.sweep?.(state, budget);
  }
  entries(name: string): Iterable<StateEntry> {
    return this.#store.entries(name);
  }
  async close(): Promise<void> {
    await this.#store.close();
  }
}
