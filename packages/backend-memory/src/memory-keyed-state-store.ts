import { WeirError, isWeirError, messageOf } from '@weir/core/contracts';
import type {
  CaptureRequest,
  Key,
  KeyedCapture,
  KeyedSection,
  KeyedStateStore,
  StateDeclaration,
  StateEntry,
  StateHandle,
  StateScope,
} from '@weir/core/contracts';
import { Captures } from './capture/captures.js';
import { MemoryCapture } from './memory-capture.js';
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
  readonly #states: Map<string, StoredState>;

  constructor(scope: StateScope, preservedBytes: number) {
    this.#scope = scope;
    this.#preservedBytes = preservedBytes;
    this.current = new CurrentKey(scope.operator);
    this.#captures = new Captures(scope.keyGroups, scope.states.length);
    const parts: StoreParts = {
      operator: scope.operator,
      range: scope.keyGroups,
      maxParallelism: scope.maxParallelism,
      current: this.current,
      captures: this.#captures,
    };
    this.#states = new Map(scope.states.map((state, index) => [state.name, createState(state, index, parts)]));
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

  capture({ checkpointId }: CaptureRequest): KeyedCapture {
    this.current.assertOpen();
    const preserved = this.#captures.begin(checkpointId);
    return new MemoryCapture(preserved, this.#captures, [...this.#states.values()], this.#scope.keyGroups);
  }
  isPressed(): boolean {
    return this.#captures.bytes > this.#preservedBytes;
  }

  sweep(state: string, budget: number): void {
    this.#state(state).sweep?.(budget);
  }

  restore(section: KeyedSection): void {
    const state = this.#state(section.state.name);
    const place = `State '${state.meta.name}' of operator '${this.#scope.operator}'`;
    if (section.state.kind !== state.meta.kind) {
      throw new WeirError(
        'CHECKPOINT_INCOMPATIBLE',
        `${place} is a ${state.meta.kind} state, but a ${section.state.kind} state was stored.`,
        {
          recoverable: false,
        },
      );
    }
    try {
      state.restore(section);
    } catch (error) {
      if (isWeirError(error)) throw error;
      throw new WeirError(
        'CHECKPOINT_UNREADABLE',
        `${place} in key group ${section.keyGroup} cannot be decoded: ${messageOf(error)}`,
        {
          cause: error,
          recoverable: false,
        },
      );
    }
  }
  entries(name: string): Iterable<StateEntry> {
    return this.#state(name).entries();
  }

  completed(): void {
    // A capture lives until it is released, whatever became of its checkpoint.
  }
  aborted(): void {
    // As for completed.
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
    throw new WeirError(
      'STATE_UNKNOWN',
      `Operator ${this.#scope.operator} declares no state '${name}'. It declares: ${[...this.#states.keys()].join(', ') || 'none'}.`,
      { recoverable: false },
    );
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
