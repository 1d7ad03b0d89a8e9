import { readRows, writeListRow } from '@weir/core/contracts';
import type {
  Key,
  KeyGroup,
  KeyedSection,
  ListState,
  Serializer,
  StateDeclaration,
  StateEntry,
  StateMeta,
} from '@weir/core/contracts';
import { NO_CAPTURE } from '../capture/captures.js';
import type { Captures } from '../capture/captures.js';
import type { Preserved, RowSource } from '../capture/preserved.js';
import type { GroupPages } from './group-pages.js';
import { KeyedHandle } from './keyed-handle.js';
import { ListCell } from './list-cell.js';
import { ListHold } from './list-hold.js';
import { ListView } from './list-view.js';
import { offsetOf } from './page.js';
import type { Slot } from './page.js';
import { ENCODED_AT_ONCE, openHolds } from './state-hold.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { sweepOfLists } from './sweeps.js';
import type { Sweep } from './sweeps.js';
import { Table } from './table.js';
import { UNVISITED } from './unvisited.js';

/** All lists of one list state. */
export class StoredLists implements StoredState<ListCell>, RowSource<Slot> {
  readonly meta: StateMeta;
  readonly handle: ListState<unknown>;
  readonly sweep: Sweep | undefined;
  readonly #index: number;
  readonly #serializer: Serializer;
  readonly #table: Table<ListCell>;
  readonly #captures: Captures;

  constructor(declaration: StateDeclaration, index: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.#index = index;
    this.#table = new Table(parts.range);
    this.#captures = parts.captures;
    this.handle = new ListHandle(this, this.#table, parts);
    if (declaration.expiry !== undefined)
      this.sweep = sweepOfLists(this.#table, this.handle, parts.current, declaration.expiry);
  }

  lookAhead(keys: readonly Key[]): void {
    this.#table.lookAhead(keys);
  }
  group(group: KeyGroup): GroupPages<ListCell> {
    return this.#table.group(group);
  }
  preserve(slot: Slot, version: number): void {
    const page = this.#table.page(slot);
    const at = offsetOf(slot);
    const stamp = page.stamps[at]!;
    if (stamp >= version) return;
    this.#captures.give(this, slot, stamp, version);
    page.stamps[at] = version;
  }
  append(slot: Slot, preserved: Preserved): void {
    const { group, keys, values } = this.#table.page(slot);
    const at = offsetOf(slot);
    const key = keys[at]!;
    const cell = values[at]!;
    const { length } = cell.values;
    if (length > ENCODED_AT_ONCE) {
      new ListHold(key, group, cell, this.#index, this.#serializer, preserved);
      return;
    }
    const rows = preserved.rows(group, this.#index);
    writeListRow(rows.out, key, cell.values, 0, length, this.#serializer);
    rows.added();
  }

  restore(section: KeyedSection): void {
    const table = this.#table;
    readRows(section, this.#serializer, {
      ...UNVISITED,
      list: (key, values) => {
        const slot = table.find(key) ?? table.add(key, section.keyGroup, NO_CAPTURE, new ListCell());
        const cell = table.value(slot);
        for (const value of values) cell.push(value);
      },
    });
  }
  *entries(): Iterable<StateEntry> {
    const table = this.#table;
    for (const slot of table.all()) {
      yield { key: table.key(slot), kind: 'list', values: [...table.value(slot).values] };
    }
  }
}

class ListHandle extends KeyedHandle<ListCell> implements ListState<unknown> {
  private readonly stored: StoredLists;
  private readonly captures: Captures;

  constructor(stored: StoredLists, table: Table<ListCell>, parts: StoreParts) {
    super(table, parts);
    this.stored = stored;
    this.captures = parts.captures;
  }

  values(): Iterable<unknown> {
    const cell = this.cell();
    if (cell === undefined) return [];
    if (cell.hasMutable) {
      // Who reads an object may change it without a word, so captures may no longer hold it by reference.
      this.preserve();
      for (const hold of openHolds(cell)) hold.finish();
    }
    return new ListView(cell.values);
  }
  add(value: unknown): void {
    const cell = this.cell();
    if (cell === undefined) {
      this.create(newCell).push(value);
      return;
    }
    this.preserve();
    cell.push(value);
  }
  clear(): void {
    const cell = this.cell();
    if (cell === undefined) return;
    this.preserve();
    for (const hold of openHolds(cell)) hold.keepAlive();
    this.remove();
  }

  private cell(): ListCell | undefined {
    return this.find()?.[this.offset];
  }
  private preserve(): void {
    if (this.captures.newest !== NO_CAPTURE) this.stored.preserve(this.slot, this.captures.newest);
  }
}

const newCell = (): ListCell => new ListCell();
