import { restoringSection, unknownState } from '@weir/core/contracts';
import type {
  CaptureRequest,
  CheckpointId,
  Key,
  KeyedCapture,
  KeyedSection,
  KeyedStateStore,
  RestoredBase,
  StateDeclaration,
  StateEntry,
  StateHandle,
  StateScope,
} from '@weir/core/contracts';
import { Captures } from './capture/captures.js';
import { IncrementalCaptures } from './changelog/incremental-captures.js';
import { CurrentKey } from './state/current-key.js';
import { StoredLists } from './state/list-state.js';
import { StoredMaps } from './state/map-state.js';
import type { StoreParts, StoredState } from './state/stored-state.js';
import { StoredValues } from './state/value-state.js';

/** Keyed state of one operator in one subtask, in tables of live values. */
export class MemoryKeyedStateStore implements KeyedStateStore {
  readonly #scope: StateScope;
  readonly #preservedBytes: number;
  private readonly current: CurrentKey;
  readonly #captures: Captures;
  readonly #incremental: IncrementalCaptures;
  readonly #states: Map<string, StoredState>;

  constructor(scope: StateScope, preservedBytes: number) {
    this.#scope = scope;
    this.#preservedBytes = preservedBytes;
    this.current = new CurrentKey(scope.operator);
    this.#captures = new Captures(scope.keyGroups, scope.states.length);
    const parts: StoreParts = {
      operator: scope.operator,
      keyGroups: scope.keyGroups,
      maxParallelism: scope.maxParallelism,
      current: this.current,
      captures: this.#captures,
    };
    this.#states = new Map(scope.states.map((state, index) => [state.name, createState(state, index, parts)]));
    this.#incremental = new IncrementalCaptures({
      captures: this.#captures,
      states: [...this.#states.values()],
      range: scope.keyGroups,
    });
  }

  setCurrentKey(key: Key, place?: number): void {
    this.current.set(key, place);
  }
  lookAhead(keys: readonly Key[]): void {
    for (const state of this.#states.values()) state.lookAhead(keys);
  }
  handle(name: string): StateHandle {
    return this.#state(name).handle;
  }

  capture({ checkpointId, mode }: CaptureRequest): KeyedCapture {
    this.current.assertOpen();
    return mode === 'full' ? this.#incremental.full(checkpointId) : this.#incremental.incremental(checkpointId);
  }
  isOverBudget(): boolean {
    return this.#captures.bytes > this.#preservedBytes;
  }

  sweep(state: string, budget: number): void {
    this.#state(state).sweep?.(budget);
  }

  restore(section: KeyedSection): void {
    const state = this.#state(section.state.name);
    restoringSection(this.#scope.operator, state.meta, section, () => {
      state.restore(section);
    });
  }
  entries(name: string): Iterable<StateEntry> {
    return this.#state(name).entries();
  }

  restored(base: RestoredBase): void {
    this.#incremental.restored(base);
  }

  completed(checkpointId: CheckpointId): void {
    this.#incremental.completed(checkpointId);
  }
  aborted(checkpointId: CheckpointId): void {
    this.#incremental.aborted(checkpointId);
  }

  async close(): Promise<void> {
    this.current.close();
    this.#captures.endAll(this.current.violation());
    this.#states.clear();
  }

  #state(name: string): StoredState {
    this.current.assertOpen();
    const state = this.#states.get(name);
    if (state !== undefined) return state;
    throw unknownState(this.#scope.operator, name, this.#states.keys());
  }
}

function createState(declaration: StateDeclaration, index: number, parts: StoreParts): StoredState {
  switch (declaration.kind) {
    case 'value':
      return new StoredValues(declaration, index, parts);
    case 'list':
      return new StoredLists(declaration, index, parts);
    case 'map':
      return new StoredMaps(declaration, index, parts);
  }
}
