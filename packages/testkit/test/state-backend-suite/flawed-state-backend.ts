import {
  defaultSerializer,
  ByteWriter,
  readRows,
  type CaptureRequest,
  type Key,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateStore,
  type ListState,
  type StateBackend,
  type StateEntry,
  type StateHandle,
  type StateScope,
  type ValueState,
} from '@weir/core/contracts';
import { createReferenceStateBackend } from '@weir/testkit';
import type { Flaw, Has } from './flaw.js';
import { FlawedCapture } from './flawed-capture.js';

const OF_CAPTURES: readonly Flaw[] = [
  'reads the state when it writes',
  'shares objects with the state',
  'shares lists with the state',
  'forgets what was cleared',
  'finds keys that came later',
  'loses entries of maps',
  'writes groups in any order',
  'overwrites what is not taken yet',
  'does not wait until a section is taken',
  'never pauses',
  'does not stop when given up',
  'releases all captures at once',
  'fails the record',
];

/** A state backend that is right, except for its flaw. */
export function flawedStateBackend(flaw: Flaw): StateBackend {
  const backend = createReferenceStateBackend();
  const has: Has = (other) => other === flaw;
  return {
    ...backend,
    open: async (scope) => {
      const keyGroups = has('takes keys of others') ? { first: 0, last: scope.maxParallelism - 1 } : scope.keyGroups;
      return new FlawedStore(await backend.open({ ...scope, keyGroups }), scope, flaw);
    },
  };
}

class FlawedStore implements KeyedStateStore {
  readonly #store: KeyedStateStore;
  readonly #scope: StateScope;
  readonly #flaw: Flaw;
  readonly #handles = new Map<string, StateHandle>();
  #captures: FlawedCapture[] = [];

  constructor(store: KeyedStateStore, scope: StateScope, flaw: Flaw) {
    this.#store = store;
    this.#scope = scope;
    this.#flaw = flaw;
  }

  setCurrentKey(key: Key): void {
    this.#store.setCurrentKey(this.#flaw === 'mixes up keys that look alike' && key === 1 ? '1' : key);
  }
  handle(name: string): StateHandle {
    const handle = this.#handles.get(name) ?? this.#flawed(name, this.#store.handle(name));
    this.#handles.set(name, handle);
    return handle;
  }
  capture(request: CaptureRequest): KeyedCapture {
    if (!OF_CAPTURES.includes(this.#flaw)) return this.#store.capture(request);
    const capture = new FlawedCapture(
      this.#store,
      this.#scope,
      (flaw) => flaw === this.#flaw,
      () => {
        for (const other of this.#captures) other.forget();
      },
    );
    this.#captures.push(capture);
    return capture;
  }
  restore(section: KeyedSection): void {
    const { state } = section;
    const declared = this.#scope.states.find(({ name }) => name === state.name);
    if (this.#flaw === 'replaces rows instead of adding them' && state.kind === 'list') this.#clearKeysOf(section);
    if (this.#flaw === 'takes rows of any kind' && declared?.kind !== state.kind) return;
    if (this.#flaw === 'takes rows of any serializer' && declared !== undefined) {
      const { id, version } = declared.serializer;
      this.#store.restore({ ...section, state: { ...state, serializer: { id, version } } });
      return;
    }
    this.#store.restore(section);
  }
  sweep(state: string, budget: number): void {
    if (this.#flaw === 'sweeps nothing away') return;
    this.#store.sweep?.(state, budget);
    if (this.#flaw !== 'sweeps what lives') return;
    for (const { key } of [...this.#store.entries(state)]) {
      this.#store.setCurrentKey(key);
      this.#store.handle(state).clear();
    }
  }
  isOverBudget(): boolean {
    return this.#flaw === 'is always pressed';
  }
  entries(name: string): Iterable<StateEntry> {
    return this.#store.entries(name);
  }
  completed(checkpointId: number): void {
    this.#store.completed(checkpointId);
  }
  aborted(checkpointId: number): void {
    this.#store.aborted(checkpointId);
  }
  close(): void {
    this.#captures = [];
    if (this.#flaw !== 'can be used when closed') void this.#store.close();
  }

  #clearKeysOf(section: KeyedSection): void {
    const items = this.#store.handle(section.state.name) as ListState<unknown>;
    readRows(section, defaultSerializer, {
      value: () => undefined,
      list: (key) => {
        this.#store.setCurrentKey(key);
        items.clear();
      },
      map: () => undefined,
    });
  }

  #flawed(name: string, handle: StateHandle): StateHandle {
    const value = handle as ValueState<unknown, unknown>;
    const initial = this.#scope.states.find((state) => state.name === name)?.initial;
    switch (name === 'count' || name === 'last' ? this.#flaw : undefined) {
      case 'takes falsy values for none':
        return { ...bound(value), value: () => (value.value() === null ? undefined : (value.value() ?? initial?.())) };
      case 'stores what is only read':
        return {
          ...bound(value),
          value() {
            const read = value.value();
            value.update(read);
            return read;
          },
        };
      case 'stays with the key it knows': {
        let known: { readonly value: unknown } | undefined;
        return {
          value: () => (known ??= { value: value.value() }).value,
          update(next) {
            known = { value: next };
            value.update(next);
          },
          clear() {
            known = undefined;
            value.clear();
          },
        };
      }
      case 'holds what it held before': {
        const given = new Set<unknown>();
        const handed = (read: unknown): unknown => {
          given.add(read);
          return read;
        };
        return { ...bound(value), value: () => handed(value.value()), holds: (object) => given.has(object) };
      }
      case 'fails the record':
        return {
          ...bound(value),
          update(next) {
            defaultSerializer.encode(value.value(), new ByteWriter());
            value.update(next);
          },
        };
      default:
        return handle;
    }
  }
}

function bound(state: ValueState<unknown, unknown>): ValueState<unknown, unknown> {
  return {
    value: () => state.value(),
    update: (value) => {
      state.update(value);
    },
    clear: () => {
      state.clear();
    },
  };
}
