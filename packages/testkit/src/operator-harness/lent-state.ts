import {
  ByteReader,
  ByteWriter,
  WeirError,
  type Key,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type Serializer,
  type StateDeclaration,
  type StateHandle,
  type ValueState,
} from '@weir/core/contracts';
import { expire } from './expired.js';

/** What an operator's state is lent by. */
export interface Lender {
  readonly operator: string;
  /** Whether state may be used now. */
  mayUse(): boolean;
  /** Parts of values that were emitted: they belong to the records now. */
  isSpared(part: object): boolean;
  /** Told of every wrong use before it throws, because nobody may be there to catch it. */
  violated(error: WeirError): void;
}

/**
 * Keyed state that lends values instead of giving them: each read is a copy, and spoiled when the callback is over, so that a reference which
 * outlives it is found out. What is written is copied too, so a change without a write is lost, as with a backend that keeps bytes.
 */
export class LentState {
  readonly #lender: Lender;
  #lent: { readonly value: unknown; readonly state: string }[] = [];
  #turn = 0;

  constructor(lender: Lender) {
    this.#lender = lender;
  }

  /** The callback is over. */
  takeBack(): void {
    const lent = this.#lent;
    this.#lent = [];
    this.#turn++;
    for (const { value, state } of lent)
      expire(
        value,
        (part) => this.#lender.isSpared(part),
        () => this.#kept(`a value of state '${state}'`),
      );
  }

  lendFrom(store: KeyedStateStore, declarations: readonly StateDeclaration[]): KeyedStateStore {
    const handles = new Map(declarations.map((declaration) => [declaration.name, this.#handle(store, declaration)]));
    return {
      setCurrentKey: (key) => {
        store.setCurrentKey(key);
      },
      sweep: (state, budget) => {
        store.sweep?.(state, budget);
      },
      handle: (name) => handles.get(name) ?? store.handle(name),
      capture: (request) => store.capture(request),
      restore: (section) => {
        store.restore(section);
      },
      isOverBudget: () => store.isOverBudget(),
      entries: (name) => store.entries(name),
      completed: (checkpointId) => {
        store.completed(checkpointId);
      },
      aborted: (checkpointId) => {
        store.aborted(checkpointId);
      },
      close: () => store.close(),
    };
  }

  #handle(store: KeyedStateStore, { kind, name, serializer }: StateDeclaration): StateHandle {
    const use = <H extends StateHandle>(): H => {
      if (!this.#lender.mayUse()) throw this.#kept(`the handle of state '${name}'`);
      // The declaration says which kind of handle the store has under this name.
      return store.handle(name) as H;
    };
    const lend = (value: unknown): unknown => {
      const copy = copyOf(value, serializer);
      if (typeof copy === 'object' && copy !== null) this.#lent.push({ value: copy, state: name });
      return copy;
    };
    switch (kind) {
      case 'value': {
        const handle: ValueState<unknown, unknown> = {
          value: () => lend(use<ValueState<unknown, unknown>>().value()),
          update: (value) => {
            use<ValueState<unknown, unknown>>().update(copyOf(value, serializer));
          },
          clear: () => {
            use().clear();
          },
        };
        return handle;
      }
      case 'list': {
        const handle: ListState<unknown> = {
          values: () => this.#iterable(name, use<ListState<unknown>>().values(), lend),
          add: (value) => {
            use<ListState<unknown>>().add(copyOf(value, serializer));
          },
          clear: () => {
            use().clear();
          },
        };
        return handle;
      }
      case 'map': {
        const handle: MapState<Key, unknown> = {
          get: (key) => lend(use<MapState<Key, unknown>>().get(key)),
          set: (key, value) => {
            use<MapState<Key, unknown>>().set(key, copyOf(value, serializer));
          },
          delete: (key) => {
            use<MapState<Key, unknown>>().delete(key);
          },
          entries: () =>
            this.#iterable(
              name,
              use<MapState<Key, unknown>>().entries(),
              ([key, value]) => [key, lend(value)] as const,
            ),
          clear: () => {
            use().clear();
          },
        };
        return handle;
      }
    }
  }

  /** Ends with the callback, also in the middle. */
  #iterable<T, R>(state: string, items: Iterable<T>, lend: (item: T) => R): Iterable<R> {
    const turn = this.#turn;
    const assertUsable = (): void => {
      if (turn !== this.#turn) throw this.#kept(`an iterator over state '${state}'`);
    };
    return {
      *[Symbol.iterator]() {
        assertUsable();
        for (const item of items) {
          yield lend(item);
          assertUsable();
        }
      },
    };
  }

  #kept(what: string): WeirError {
    const error = new WeirError(
      'PROTOCOL_VIOLATION',
      `Operator ${this.#lender.operator} used ${what} after the callback that got it had returned. Read it anew from the state in each callback.`,
      { recoverable: false },
    );
    this.#lender.violated(error);
    return error;
  }
}

function copyOf(value: unknown, serializer: Serializer): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const out = new ByteWriter();
  serializer.encode(value, out);
  return serializer.decode(new ByteReader(out.toBytes()));
}
