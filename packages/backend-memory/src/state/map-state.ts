import {
  assertKey,
  keyIdentity,
  ownKey,
  readChanges,
  readRows,
  writeMapChange,
  writeMapRow,
} from '@weir/core/contracts';
import type {
  Key,
  KeyGroup,
  KeyedSection,
  MapState,
  Serializer,
  StateDeclaration,
  StateEntry,
  StateExpiry,
  StateMeta,
} from '@weir/core/contracts';
import type { Captures } from '../capture/captures.js';
import type { Preserved, RowSource } from '../capture/preserved.js';
import { ChangeRecorder } from '../changelog/change-recorder.js';
import type { GroupPages } from './group-pages.js';
import { KeyedHandle } from './keyed-handle.js';
import { MapCell, MapItem } from './map-cell.js';
import { MapHold } from './map-hold.js';
import type { PreserveItem } from './map-hold.js';
import { MapView } from './map-view.js';
import { isMutable } from './mutable.js';
import { NO_CAPTURE, UNMARKED, offsetOf } from './page.js';
import type { Slot } from './page.js';
import { ENCODED_AT_ONCE, openHolds } from './state-hold.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { sweepOfMaps } from './sweeps.js';
import type { Sweep } from './sweeps.js';
import { Table } from './table.js';
import { UNVISITED } from './unvisited.js';

/** All maps of one map state. An item that is touched is preserved alone, however large its map is. */
export class StoredMaps implements StoredState<MapCell>, RowSource<MapItem> {
  readonly meta: StateMeta;
  readonly handle: MapState<Key, unknown>;
  readonly sweep: Sweep | undefined;
  readonly #index: number;
  readonly #serializer: Serializer;
  readonly #table: Table<MapCell>;
  readonly #captures: Captures;
  readonly #holds: RowSource<MapCell>;
  readonly #recorder: ChangeRecorder;
  /** Items of all maps. */
  rows = 0;

  constructor(declaration: StateDeclaration, index: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.#index = index;
    this.#table = new Table(parts.keyGroups);
    this.#captures = parts.captures;
    const preserveItem: PreserveItem = (item, version) => this.preserveItem(item, version);
    this.#holds = {
      append: (cell, preserved) => {
        new MapHold(cell, index, preserveItem, preserved);
      },
    };
    this.#recorder = new ChangeRecorder(parts.captures.log, index);
    this.handle = new MapHandle(this, this.#table, parts, this.#recorder, declaration.expiry);
    if (declaration.expiry !== undefined)
      this.sweep = sweepOfMaps(this.#table, this.handle, parts.current, declaration.expiry);
  }

  lookAhead(keys: readonly Key[]): void {
    this.#table.lookAhead(keys);
  }
  group(group: KeyGroup): GroupPages<MapCell> {
    return this.#table.group(group);
  }
  markOf(slot: Slot): number {
    return this.#table.page(slot).markAt(offsetOf(slot));
  }
  preserve(slot: Slot, version: number): void {
    const page = this.#table.page(slot);
    const at = offsetOf(slot);
    const stamp = page.stamps[at]!;
    if (stamp >= version) return;
    const cell = page.values[at]!;
    if (cell.items.size > ENCODED_AT_ONCE) this.#captures.give(this.#holds, cell, stamp, version, page.markAt(at));
    else for (const item of cell.items.values()) this.preserveItem(item, version);
    page.stamps[at] = version;
  }
  preserveItem(item: MapItem, version: number): void {
    if (item.stamp >= version) return;
    this.#captures.give(this, item, item.stamp, version, item.mark);
    item.stamp = version;
  }
  append({ cell, key, value }: MapItem, preserved: Preserved): void {
    const rows = preserved.rows(cell.group, this.#index);
    const write = preserved.isOfChanges ? writeMapChange : writeMapRow;
    write(rows.out, cell.key, key, value, this.#serializer);
    rows.added();
  }

  /** A new item of the map in `slot`. */
  newItem(slot: Slot, cell: MapCell, key: Key, value: unknown): MapItem {
    this.rows++;
    const { newest, log } = this.#captures;
    if (!log.isOn) return new MapItem(cell, key, newest, UNMARKED, value);
    log.current.rows++;
    this.#recorder.changed(this.#table.page(slot), slot);
    return new MapItem(cell, key, newest, log.mark + 1, value);
  }
  beforeChange(slot: Slot, item: MapItem): void {
    const { newest, log } = this.#captures;
    this.preserveItem(item, newest);
    if (!log.isOn || item.mark >= log.mark) return;
    item.mark = log.mark;
    log.current.rows++;
    this.#recorder.changed(this.#table.page(slot), slot);
  }
  beforeDeletion(slot: Slot, item: MapItem): void {
    const { newest, log } = this.#captures;
    this.preserveItem(item, newest);
    if (!log.isOn || item.mark === log.mark + 1) return;
    this.#recorder.removedEntry(this.#table.page(slot), item.cell.key, item.key);
  }
  beforeRemoval(slot: Slot): void {
    const { newest, log } = this.#captures;
    this.preserve(slot, newest);
    if (log.isOn) this.#recorder.removed(this.#table.page(slot), slot);
  }

  restore(section: KeyedSection): void {
    const table = this.#table;
    const put = (key: Key, mapKey: Key, value: unknown): void => {
      const slot = table.find(key) ?? table.add(key, section.keyGroup, NO_CAPTURE, new MapCell(key, section.keyGroup));
      const { items } = table.value(slot);
      this.rows -= items.size;
      items.set(keyIdentity(mapKey), new MapItem(table.value(slot), mapKey, NO_CAPTURE, UNMARKED, value));
      this.rows += items.size;
    };
    if (section.isChange !== true) {
      readRows(section, this.#serializer, { ...UNVISITED, map: put });
      return;
    }
    readChanges(section, this.#serializer, {
      ...UNVISITED,
      map: put,
      remove: (key) => {
        const slot = table.find(key);
        if (slot === undefined) return;
        this.rows -= table.value(slot).items.size;
        table.remove(slot);
      },
      removeEntry: (key, mapKey) => {
        const slot = table.find(key);
        if (slot === undefined) return;
        const { items } = table.value(slot);
        if (items.delete(keyIdentity(mapKey))) this.rows--;
        if (items.size === 0) table.remove(slot);
      },
    });
  }
  *entries(): Iterable<StateEntry> {
    for (const slot of this.#table.all()) {
      const { key, items } = this.#table.value(slot);
      for (const item of items.values()) yield { key, kind: 'map', mapKey: item.key, value: item.value };
    }
  }
}

class MapHandle extends KeyedHandle<MapCell> implements MapState<Key, unknown> {
  private readonly stored: StoredMaps;
  private readonly captures: Captures;
  private readonly place: string;
  private readonly expiry: StateExpiry | undefined;

  constructor(
    stored: StoredMaps,
    table: Table<MapCell>,
    parts: StoreParts,
    recorder: ChangeRecorder,
    expiry: StateExpiry | undefined,
  ) {
    super(table, parts, recorder);
    this.expiry = expiry;
    this.stored = stored;
    this.captures = parts.captures;
    this.place = `State '${stored.meta.name}' of operator '${parts.operator}'`;
  }

  get(key: Key): unknown {
    const item = this.cell()?.items.get(keyIdentity(key));
    return item === undefined ? undefined : this.read(item, this.slot);
  }
  set(key: Key, value: unknown): void {
    assertKey(key, this.place);
    const cell = this.cell() ?? this.create(newCell);
    const identity = keyIdentity(key);
    const item = cell.items.get(identity);
    if (item === undefined) {
      cell.items.set(identity, this.stored.newItem(this.slot, cell, ownKey(key), value));
      return;
    }
    if (this.captures.isWatching) this.stored.beforeChange(this.slot, item);
    item.value = value;
  }
  delete(key: Key): void {
    const cell = this.cell();
    const identity = keyIdentity(key);
    const item = cell?.items.get(identity);
    if (cell === undefined || item === undefined) return;
    if (this.captures.isWatching) this.stored.beforeDeletion(this.slot, item);
    this.stored.rows--;
    cell.items.delete(identity);
    if (cell.items.size === 0) this.remove();
  }
  entries(): Iterable<readonly [Key, unknown]> {
    const cell = this.cell();
    const { slot } = this;
    return cell === undefined ? [] : new MapView(cell, (item) => this.read(item, slot));
  }
  clear(): void {
    const cell = this.cell();
    if (cell === undefined) return;
    if (this.captures.isWatching) this.stored.beforeRemoval(this.slot);
    for (const hold of openHolds(cell)) hold.keepAlive();
    cell.isCleared = true;
    this.stored.rows -= cell.items.size;
    this.remove();
  }

  private cell(): MapCell | undefined {
    return this.find()?.[this.offset];
  }
  private read(item: MapItem, slot: Slot): unknown {
    if (this.captures.isWatching && isMutable(item.value, this.expiry)) this.stored.beforeChange(slot, item);
    return item.value;
  }
}

const newCell = (key: Key, group: KeyGroup): MapCell => new MapCell(key, group);
