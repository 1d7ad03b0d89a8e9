import { assertKey, keyIdentity, readRows, writeMapRow } from '@weir/core/contracts';
import type {
  Key,
  KeyGroup,
  KeyedSection,
  MapState,
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
import { MapCell, MapItem } from './map-cell.js';
import { MapHold } from './map-hold.js';
import type { PreserveItem } from './map-hold.js';
import { MapView } from './map-view.js';
import { isMutable } from './mutable.js';
import { ownKey } from './own-key.js';
import { offsetOf } from './page.js';
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

  constructor(declaration: StateDeclaration, index: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.#index = index;
    this.#table = new Table(parts.range);
    this.#captures = parts.captures;
    const preserveItem: PreserveItem = (item, version) => this.preserveItem(item, version);
    this.#holds = {
      append: (cell, preserved) => {
        new MapHold(cell, index, preserveItem, preserved);
      },
    };
    this.handle = new MapHandle(this, this.#table, parts);
    if (declaration.expiry !== undefined)
      this.sweep = sweepOfMaps(this.#table, this.handle, parts.current, declaration.expiry);
  }

  lookAhead(keys: readonly Key[]): void {
    this.#table.lookAhead(keys);
  }
  group(group: KeyGroup): GroupPages<MapCell> {
    return this.#table.group(group);
  }
  preserve(slot: Slot, version: number): void {
    const page = this.#table.page(slot);
    const at = offsetOf(slot);
    const stamp = page.stamps[at]!;
    if (stamp >= version) return;
    const cell = page.values[at]!;
    if (cell.items.size > ENCODED_AT_ONCE) this.#captures.give(this.#holds, cell, stamp, version);
    else for (const item of cell.items.values()) this.preserveItem(item, version);
    page.stamps[at] = version;
  }
  preserveItem(item: MapItem, version: number): void {
    if (item.stamp >= version) return;
    this.#captures.give(this, item, item.stamp, version);
    item.stamp = version;
  }
  append({ cell, key, value }: MapItem, preserved: Preserved): void {
    const rows = preserved.rows(cell.group, this.#index);
    writeMapRow(rows.out, cell.key, key, value, this.#serializer);
    rows.added();
  }

  restore(section: KeyedSection): void {
    const table = this.#table;
    readRows(section, this.#serializer, {
      ...UNVISITED,
      map: (key, mapKey, value) => {
        const slot =
          table.find(key) ?? table.add(key, section.keyGroup, NO_CAPTURE, new MapCell(key, section.keyGroup));
        const cell = table.value(slot);
        cell.items.set(keyIdentity(mapKey), new MapItem(cell, mapKey, NO_CAPTURE, value));
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

  constructor(stored: StoredMaps, table: Table<MapCell>, parts: StoreParts) {
    super(table, parts);
    this.stored = stored;
    this.captures = parts.captures;
    this.place = `State '${stored.meta.name}' of operator '${parts.operator}'`;
  }

  get(key: Key): unknown {
    const item = this.cell()?.items.get(keyIdentity(key));
    return item === undefined ? undefined : this.read(item);
  }
  set(key: Key, value: unknown): void {
    assertKey(key, this.place);
    const cell = this.cell() ?? this.create(newCell);
    const identity = keyIdentity(key);
    const item = cell.items.get(identity);
    if (item === undefined) {
      cell.items.set(identity, new MapItem(cell, ownKey(key), this.captures.newest, value));
      return;
    }
    this.preserve(item);
    item.value = value;
  }
  delete(key: Key): void {
    const cell = this.cell();
    const identity = keyIdentity(key);
    const item = cell?.items.get(identity);
    if (cell === undefined || item === undefined) return;
    this.preserve(item);
    cell.items.delete(identity);
    if (cell.items.size === 0) this.remove();
  }
  entries(): Iterable<readonly [Key, unknown]> {
    const cell = this.cell();
    return cell === undefined ? [] : new MapView(cell, (item) => this.read(item));
  }
  clear(): void {
    const cell = this.cell();
    if (cell === undefined) return;
    if (this.captures.newest !== NO_CAPTURE) this.stored.preserve(this.slot, this.captures.newest);
    for (const hold of openHolds(cell)) hold.keepAlive();
    cell.isCleared = true;
    this.remove();
  }

  private cell(): MapCell | undefined {
    return this.find()?.[this.offset];
  }
  private read(item: MapItem): unknown {
    if (isMutable(item.value)) this.preserve(item);
    return item.value;
  }
  private preserve(item: MapItem): void {
    if (this.captures.newest !== NO_CAPTURE) this.stored.preserveItem(item, this.captures.newest);
  }
}

const newCell = (key: Key, group: KeyGroup): MapCell => new MapCell(key, group);
