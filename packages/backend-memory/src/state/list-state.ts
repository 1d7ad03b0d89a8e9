import { readChanges, readRows, writeListChange, writeListGrowth, writeListRow } from '@weir/core/contracts';
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
import type { Captures } from '../capture/captures.js';
import type { GroupRows } from '../capture/group-rows.js';
import type { Preserved, RowSource } from '../capture/preserved.js';
import type { GroupPages } from './group-pages.js';
import { KeyedHandle } from './keyed-handle.js';
import { ListCell } from './list-cell.js';
import { ListHold } from './list-hold.js';
import type { HeldList } from './list-hold.js';
import { ListView } from './list-view.js';
import { NO_CAPTURE, offsetOf } from './page.js';
import type { Slot } from './page.js';
import { ENCODED_AT_ONCE, openHolds } from './state-hold.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { sweepOfLists } from './sweeps.js';
import type { Sweep } from './sweeps.js';
import { Table } from './table.js';
import { UNVISITED } from './unvisited.js';
import { WatchedEntries } from './watched-entries.js';

/** All lists of one list state. */
export class StoredLists implements StoredState<ListCell>, RowSource<Slot> {
  readonly meta: StateMeta;
  readonly handle: ListState<unknown>;
  readonly sweep: Sweep | undefined;
  readonly #index: number;
  readonly #serializer: Serializer;
  readonly #table: Table<ListCell>;
  readonly #captures: Captures;
  readonly #watched: WatchedEntries<ListCell>;
  /** Elements of all lists. */
  rows = 0;

  constructor(declaration: StateDeclaration, index: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.#index = index;
    this.#table = new Table(parts.keyGroups);
    this.#captures = parts.captures;
    this.#watched = new WatchedEntries(this.#table, index, this, parts.captures);
    this.handle = new ListHandle(this, this.#table, parts, this.#watched);
    if (declaration.expiry !== undefined)
      this.sweep = sweepOfLists(this.#table, this.handle, parts.current, declaration.expiry);
  }

  lookAhead(keys: readonly Key[]): void {
    this.#table.lookAhead(keys);
  }
  group(group: KeyGroup): GroupPages<ListCell> {
    return this.#table.group(group);
  }
  markOf(slot: Slot): number {
    return this.#watched.markOf(slot);
  }
  preserve(slot: Slot, version: number): void {
    this.#watched.preserve(slot, version);
  }
  append(slot: Slot, preserved: Preserved): void {
    const { group, keys, values } = this.#table.page(slot);
    const at = offsetOf(slot);
    const key = keys[at]!;
    const cell = values[at]!;
    const from = preserved.isOfChanges ? cell.unchangedSince(preserved.since) : 0;
    const { length } = cell.values;
    const rows = preserved.rows(group, this.#index);
    const write = rowWriter(preserved, rows, this.#serializer);
    if (length - from > ENCODED_AT_ONCE) {
      new ListHold({ key, group, cell, from, write }, this.#index, preserved);
      return;
    }
    write(key, cell.values, from, length);
    rows.added();
  }

  /** The list is new. */
  created(cell: ListCell): void {
    const { log } = this.#captures;
    if (log.isOn) cell.changes(log.mark);
  }
  added(): void {
    this.rows++;
    const { log } = this.#captures;
    if (log.isOn) log.current.rows++;
  }
  beforeGrowth(slot: Slot, cell: ListCell): void {
    this.#watched.beforeChange(slot);
    const { log } = this.#captures;
    if (log.isOn) cell.grows(log.mark, log.oldestMark);
  }
  /** Its elements are handed out, and can be changed. */
  beforeReading(slot: Slot, cell: ListCell): void {
    this.#watched.beforeChange(slot);
    const { log } = this.#captures;
    if (log.isOn && cell.changes(log.mark)) log.current.rows += cell.values.length;
  }
  beforeRemoval(slot: Slot): void {
    this.#watched.beforeRemoval(slot);
  }

  restore(section: KeyedSection): void {
    const table = this.#table;
    const append = (key: Key, values: readonly unknown[]): void => {
      const slot = table.find(key) ?? table.add(key, section.keyGroup, NO_CAPTURE, new ListCell());
      const cell = table.value(slot);
      for (const value of values) cell.push(value);
      this.rows += values.length;
    };
    if (section.isChange !== true) {
      readRows(section, this.#serializer, { ...UNVISITED, list: append });
      return;
    }
    const remove = (key: Key): void => {
      const slot = table.find(key);
      if (slot === undefined) return;
      this.rows -= table.value(slot).values.length;
      table.remove(slot);
    };
    readChanges(section, this.#serializer, {
      ...UNVISITED,
      list(key, values) {
        remove(key);
        append(key, values);
      },
      append,
      remove,
    });
  }
  *entries(): Iterable<StateEntry> {
    const table = this.#table;
    for (const slot of table.all()) {
      yield { key: table.key(slot), kind: 'list', values: [...table.value(slot).values] };
    }
  }
}

function rowWriter(preserved: Preserved, rows: GroupRows, serializer: Serializer): HeldList['write'] {
  if (!preserved.isOfChanges) {
    return (key, values, from, to) => {
      writeListRow(rows.out, key, values, from, to, serializer);
    };
  }
  return (key, values, from, to) => {
    const write = from === 0 ? writeListChange : writeListGrowth;
    write(rows.out, key, values, from, to, serializer);
  };
}

class ListHandle extends KeyedHandle<ListCell> implements ListState<unknown> {
  private readonly stored: StoredLists;
  private readonly captures: Captures;

  constructor(stored: StoredLists, table: Table<ListCell>, parts: StoreParts, { recorder }: WatchedEntries<ListCell>) {
    super(table, parts, recorder);
    this.stored = stored;
    this.captures = parts.captures;
  }

  values(): Iterable<unknown> {
    const cell = this.cell();
    if (cell === undefined) return [];
    if (cell.hasMutable) {
      // Who reads an object may change it without a word, so captures may no longer hold it by reference.
      if (this.captures.isWatching) this.stored.beforeReading(this.slot, cell);
      for (const hold of openHolds(cell)) hold.finish();
    }
    return new ListView(cell.values);
  }
  add(value: unknown): void {
    const cell = this.cell();
    if (cell === undefined) {
      const created = this.create(newCell);
      this.stored.created(created);
      created.push(value);
    } else {
      if (this.captures.isWatching) this.stored.beforeGrowth(this.slot, cell);
      cell.push(value);
    }
    this.stored.added();
  }
  clear(): void {
    const cell = this.cell();
    if (cell === undefined) return;
    if (this.captures.isWatching) this.stored.beforeRemoval(this.slot);
    for (const hold of openHolds(cell)) hold.keepAlive();
    this.stored.rows -= cell.values.length;
    this.remove();
  }

  private cell(): ListCell | undefined {
    return this.find()?.[this.offset];
  }
}

const newCell = (): ListCell => new ListCell();
