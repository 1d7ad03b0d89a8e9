import {
  assertKey,
  isWeirError,
  keyGroupOf,
  messageOf,
  readRows,
  WeirError,
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
    const { operator, keyGroups, maxParallelism } = this.#scope;
    assertKey(key, `Operator '${operator}'`);
    const group = keyGroupOf(key, maxParallelism);
    if (group < keyGroups.first || group > keyGroups.last) {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        `A record of key group ${group} reached a subtask of operator '${operator}' that owns ${keyGroups.first} to ${keyGroups.last}.`,
      );
    }
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
    const place = `State '${declaration.name}' of operator '${this.#scope.operator}'`;
    if (section.state.kind !== declaration.kind) {
      throw new WeirError(
        'CHECKPOINT_INCOMPATIBLE',
        `${place} is a ${declaration.kind} state, but a ${section.state.kind} state was stored.`,
        { recoverable: false },
      );
    }
    try {
      readRows(section, declaration.serializer, restoring);
    } catch (error) {
      if (isWeirError(error)) throw error;
      throw new WeirError('CHECKPOINT_UNREADABLE', `${place} cannot be decoded: ${messageOf(error)}`, {
        cause: error,
        recoverable: false,
      });
    }
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

  isPressed(): boolean {
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
    throw new WeirError(
      'STATE_NO_KEY',
      `Keyed state of operator ${this.#scope.operator} was used without a key. Use it in onRecord and other keyed callbacks only.`,
    );
  }

  #state(name: string): ReferenceState {
    this.#assertOpen();
    const state = this.#states.get(name);
    if (state !== undefined) return state;
    throw new WeirError(
      'STATE_UNKNOWN',
      `Operator ${this.#scope.operator} declares no state '${name}'. It declares: ${[...this.#states.keys()].join(', ') || 'none'}.`,
      { recoverable: false },
    );
  }

  #assertOpen(): void {
    if (!this.#closed) return;
    throw new WeirError(
      'PROTOCOL_VIOLATION',
      `The keyed state of operator ${this.#scope.operator} was used after it was closed.`,
    );
  }
}
