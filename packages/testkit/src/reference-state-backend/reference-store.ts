import {
  closedStore,
  noCurrentKey,
  ownedGroup,
  readRows,
  restoringSection,
  unknownState,
  type Key,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type StateEntry,
  type StateHandle,
  type StateScope,
  type ValueState,
} from '@weir/core/contracts';
import { ReferenceCapture } from './reference-capture.js';
import { referenceState, type ReferenceState } from './states.js';

/** Keyed state in plain Maps, without any cleverness. */
export class ReferenceStore implements KeyedStateStore {
  readonly #scope: StateScope;
  readonly #states: ReadonlyMap<string, ReferenceState>;
  #key: Key | undefined;
  #closed = false;

  constructor(scope: StateScope) {
    this.#scope = scope;
    const currentKey = (): Key => this.#currentKey();
    this.#states = new Map(
      scope.states.map((declaration) => [declaration.name, referenceState(declaration, currentKey)]),
    );
  }

  setCurrentKey(key: Key): void {
    this.#assertOpen();
    ownedGroup(key, this.#scope);
    this.#key = key;
  }

  handle(name: string): StateHandle {
    return this.#state(name).handle;
  }

  capture(): KeyedCapture {
    this.#assertOpen();
    return new ReferenceCapture([...this.#states.values()], this.#scope.maxParallelism);
  }

  restore(section: KeyedSection): void {
    const { declaration, restoring } = this.#state(section.state.name);
    restoringSection(this.#scope.operator, declaration, section, () => {
      readRows(section, declaration.serializer, restoring);
    });
  }

  /** All of it at once, whatever the budget. */
  sweep(state: string): void {
    const { declaration, handle } = this.#state(state);
    const expired = (value: unknown): boolean => declaration.expiry?.isExpired(value) === true;
    for (const entry of [...this.entries(state)]) {
      this.setCurrentKey(entry.key);
      if (entry.kind === 'map') {
        if (expired(entry.value)) (handle as MapState<Key, unknown>).delete(entry.mapKey);
      } else if (entry.kind === 'value' ? expired(entry.value) : entry.values.every(expired))
        (handle as ValueState<unknown> | ListState<unknown>).clear();
    }
  }

  isOverBudget(): boolean {
    return false;
  }
  entries(name: string): Iterable<StateEntry> {
    return this.#state(name).entries();
  }
  completed(): void {
    // A capture depends on no other.
  }
  aborted(): void {
    // The same.
  }
  close(): void {
    this.#closed = true;
  }

  #currentKey(): Key {
    this.#assertOpen();
    if (this.#key !== undefined) return this.#key;
    throw noCurrentKey(this.#scope.operator);
  }

  #state(name: string): ReferenceState {
    this.#assertOpen();
    const state = this.#states.get(name);
    if (state !== undefined) return state;
    throw unknownState(this.#scope.operator, name, this.#states.keys());
  }

  #assertOpen(): void {
    if (this.#closed) throw closedStore(this.#scope.operator);
  }
}
