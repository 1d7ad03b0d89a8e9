import { readChanges, readRows, writeValueChange } from '@weir/core/contracts';
import type {
  Key,
  KeyGroup,
  KeyedSection,
  Serializer,
  StateDeclaration,
  StateEntry,
  StateExpiry,
  StateMeta,
  ValueStateHandle,
} from '@weir/core/contracts';
import type { Captures } from '../capture/captures.js';
import type { GroupRows } from '../capture/group-rows.js';
import type { Preserved, RowSource } from '../capture/preserved.js';
import type { GroupPages } from './group-pages.js';
import { KeyedHandle } from './keyed-handle.js';
import { isMutable } from './mutable.js';
import { NumberPages } from './number-pages.js';
import { NO_CAPTURE, offsetOf } from './page.js';
import type { PageRun } from './page-run.js';
import type { Page, Slot } from './page.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { sweepOfValues } from './sweeps.js';
import type { Sweep } from './sweeps.js';
import { Table } from './table.js';
import { UNVISITED } from './unvisited.js';
import { WatchedEntries } from './watched-entries.js';

/** All values of one value state. */
export class StoredValues implements StoredState, RowSource<Slot> {
  readonly meta: StateMeta;
  readonly handle: ValueStateHandle;
  readonly sweep: Sweep | undefined;
  readonly runs: RowSource<PageRun> = {
    append: (run, preserved) => {
      this.#takeRun(run, preserved);
    },
  };
  readonly #index: number;
  readonly #serializer: Serializer;
  readonly #table: Table<unknown>;
  readonly #captures: Captures;
  readonly #watched: WatchedEntries<unknown>;

  constructor(declaration: StateDeclaration, index: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.#index = index;
    this.#table = new Table(parts.keyGroups);
    this.#captures = parts.captures;
    const pages = new NumberPages(this.#table, index, this.#serializer);
    this.#watched = new WatchedEntries(this.#table, index, this, parts.captures, pages);
    this.handle = new ValueHandle(this, this.#table, parts, this.#watched, declaration);
    if (declaration.expiry !== undefined)
      this.sweep = sweepOfValues(this.#table, this.handle, parts.current, declaration.expiry);
  }

  get rows(): number {
    return this.#table.size;
  }
  lookAhead(keys: readonly Key[]): void {
    this.#table.lookAhead(keys);
  }
  group(group: KeyGroup): GroupPages<unknown> {
    return this.#table.group(group);
  }
  markOf(slot: Slot): number {
    return this.#watched.markOf(slot);
  }
  preserve(slot: Slot, version: number): void {
    this.#watched.preserve(slot, version);
  }
  append(slot: Slot, preserved: Preserved): void {
    const page = this.#table.page(slot);
    const at = offsetOf(slot);
    const rows = preserved.rows(page.group, this.#index);
    if (preserved.isOfChanges) {
      writeValueChange(rows.out, page.keys[at]!, page.values[at], this.#serializer);
      rows.added();
    } else {
      this.#appendRow(page, at, rows);
    }
  }
  #takeRun(run: PageRun, preserved: Preserved): void {
    const { page } = run;
    if (this.#watched.preservePage(page)) {
      run.to = 0;
      return;
    }
    const { group, stamps } = page;
    const { version } = preserved;
    const rows = preserved.rows(group, this.#index);
    page.parted = version;
    while (run.to > run.from && preserved.bytes < run.enough) {
      const at = --run.to;
      if (stamps[at]! >= version) continue;
      stamps[at] = version;
      this.#appendRow(page, at, rows);
    }
  }
  #appendRow(page: Page<unknown>, at: number, rows: GroupRows): void {
    const { out } = rows;
    this.#table.writeKey(page, at, out);
    this.#serializer.encode(page.values[at], out);
    rows.added();
  }
  created(): void {
    if (this.#captures.log.isOn) this.#captures.log.current.rows++;
  }
  beforeChange(slot: Slot): void {
    if (this.#watched.beforeChange(slot)) this.#captures.log.current.rows++;
  }
  beforeRemoval(slot: Slot): void {
    this.#watched.beforeRemoval(slot);
  }

  restore(section: KeyedSection): void {
    const table = this.#table;
    const put = (key: Key, value: unknown): void => {
      const slot = table.find(key);
      if (slot === undefined) table.add(key, section.keyGroup, NO_CAPTURE, value);
      else table.setValue(slot, value);
    };
    if (section.isChange !== true) {
      readRows(section, this.#serializer, { ...UNVISITED, value: put });
      return;
    }
    readChanges(section, this.#serializer, { ...UNVISITED, value: put, remove: (key) => table.removeKey(key) });
  }
  *entries(): Iterable<StateEntry> {
    const table = this.#table;
    for (const slot of table.all()) yield { key: table.key(slot), kind: 'value', value: table.value(slot) };
  }
}

class ValueHandle extends KeyedHandle<unknown> implements ValueStateHandle {
  private readonly stored: StoredValues;
  private readonly captures: Captures;
  private readonly initial: (() => unknown) | undefined;
  private readonly expiry: StateExpiry | undefined;

  constructor(
    stored: StoredValues,
    table: Table<unknown>,
    parts: StoreParts,
    { recorder }: WatchedEntries<unknown>,
    { initial, expiry }: StateDeclaration,
  ) {
    super(table, parts, recorder);
    this.stored = stored;
    this.captures = parts.captures;
    this.initial = initial;
    this.expiry = expiry;
  }

  value(): unknown {
    const column = this.turn === this.current.turn ? this.column : this.lookUp();
    if (column === undefined) return this.initial?.();
    const value = column[this.offset];
    // Who reads an object may change it without a word.
    if (this.captures.isWatching && isMutable(value, this.expiry)) this.stored.beforeChange(this.slot);
    return value;
  }
  update(value: unknown): void {
    const column = this.turn === this.current.turn ? this.column : this.lookUp();
    if (column === undefined) {
      this.createWith(value);
      return;
    }
    if (this.captures.isWatching) this.stored.beforeChange(this.slot);
    column[this.offset] = value;
  }
  holds(value: object): boolean {
    return this.turn === this.current.turn && this.column?.[this.offset] === value;
  }
  clear(): void {
    if (this.find() === undefined) return;
    if (this.captures.isWatching) this.stored.beforeRemoval(this.slot);
    this.remove();
  }

  /** By itself, because the closure over its parameter would cost `update` an allocation per call. */
  private createWith(value: unknown): void {
    this.create(() => value);
    this.stored.created();
  }
}
