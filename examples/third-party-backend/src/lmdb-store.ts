import { rm } from 'node:fs/promises';
import {
  closedStore,
  decodeKeyBlock,
  noCurrentKey,
  ownedGroup,
  readChanges,
  readRows,
  unknownState,
  WeirError,
  type ChangeVisitor,
  type Key,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type RowVisitor,
  type StateEntry,
  type StateHandle,
  type StateScope,
  type ValueState,
} from '@weir/core/contracts';
import { captureOf } from './capture.js';
import { decoded, handleOf, lengthOf } from './handles.js';
import { decodeKeys, listRowKey, placeOf, rowKey } from './row-keys.js';
import { Table } from './table.js';

/** The state of one operator in one subtask, in a folder of its own that lives as long as the store. */
export class LmdbStore implements KeyedStateStore {
  readonly #scope: StateScope;
  readonly #folder: string;
  readonly #table: Table;
  readonly #handles = new Map<string, StateHandle>();
  #current: { readonly key: Key; readonly keyGroup: number } | undefined;
  #isClosed = false;

  constructor(scope: StateScope, folder: string) {
    this.#scope = scope;
    this.#folder = folder;
    this.#table = new Table(folder);
    for (const [id, state] of scope.states.entries())
      this.#handles.set(
        state.name,
        handleOf(state, this.#table, () => this.#row(id)),
      );
  }

  setCurrentKey(key: Key): void {
    this.#assertOpen();
    this.#current = { key, keyGroup: ownedGroup(key, this.#scope) };
  }

  handle(name: string): StateHandle {
    this.#stateId(name);
    return this.#handles.get(name) as StateHandle;
  }

  capture(): KeyedCapture {
    this.#assertOpen();
    return captureOf(this.#table, this.#scope.states);
  }

  restore(section: KeyedSection): void {
    const { name, kind } = section.state;
    const state = this.#scope.states[this.#stateId(name)];
    if (state?.kind !== kind) {
      throw new WeirError('CHECKPOINT_INCOMPATIBLE', `State '${name}' was stored as a ${kind} state.`, {
        recoverable: false,
      });
    }
    const handle = this.handle(name);
    if (section.isChange === true) readChanges(section, state.serializer, this.#changing(handle));
    else readRows(section, state.serializer, this.#adding(handle));
    this.#current = undefined;
  }

  /** A store's handle is of the kind that its state was declared as, and that its rows are of. */
  #adding(handle: StateHandle): RowVisitor {
    return {
      value: (key, value) => {
        this.setCurrentKey(key);
        (handle as ValueState<unknown>).update(value);
      },
      list: (key, values) => {
        this.setCurrentKey(key);
        for (const value of values) (handle as ListState<unknown>).add(value);
      },
      map: (key, mapKey, value) => {
        this.setCurrentKey(key);
        (handle as MapState<Key, unknown>).set(mapKey, value);
      },
    };
  }

  /** Incremental checkpoints of other backends are rows and what has changed since. */
  #changing(handle: StateHandle): ChangeVisitor {
    const adding = this.#adding(handle);
    const remove = (key: Key): void => {
      this.setCurrentKey(key);
      handle.clear();
    };
    return {
      ...adding,
      append: (key, values) => {
        adding.list(key, values);
      },
      list: (key, values) => {
        remove(key);
        adding.list(key, values);
      },
      remove,
      removeEntry: (key, mapKey) => {
        this.setCurrentKey(key);
        (handle as MapState<Key, unknown>).delete(mapKey);
      },
    };
  }

  /** What captures see is LMDB's to keep, on disk. */
  isOverBudget(): boolean {
    return false;
  }

  *entries(name: string): Iterable<StateEntry> {
    const id = this.#stateId(name);
    const state = this.#scope.states[id]!;
    let elements = 0;
    for (const row of this.#table.below(Buffer.alloc(0))) {
      if (placeOf(row.key).state !== id) continue;
      if (elements > 0) {
        elements--;
        continue;
      }
      const keys = decodeKeys(row.key);
      const key = decodeKeyBlock(keys);
      if (state.kind === 'list') {
        elements = lengthOf(this.#table, row.key);
        const values = Array.from({ length: elements }, (_, i) =>
          decoded(state, this.#table.get(listRowKey(row.key, i)) as Buffer),
        );
        yield { kind: 'list', key, values };
      } else if (state.kind === 'map') {
        yield { kind: 'map', key, mapKey: decodeKeyBlock(keys), value: decoded(state, row.value) };
      } else yield { kind: 'value', key, value: decoded(state, row.value) };
    }
  }

  completed(): void {
    // No capture stands on another one.
  }
  aborted(): void {
    // The same.
  }
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#table.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #row(state: number): Buffer {
    this.#assertOpen();
    if (this.#current !== undefined) return rowKey(this.#current.keyGroup, state, this.#current.key);
    throw noCurrentKey(this.#scope.operator);
  }
  #stateId(name: string): number {
    this.#assertOpen();
    const id = this.#scope.states.findIndex((state) => state.name === name);
    if (id >= 0) return id;
    throw unknownState(this.#scope.operator, name, this.#handles.keys());
  }
  #assertOpen(): void {
    if (this.#isClosed) throw closedStore(this.#scope.operator);
  }
}
