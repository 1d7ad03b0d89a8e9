import {
  ByteReader,
  assertKey,
  decodeKey,
  decodeKeyBlock,
  encodeKey,
  keyIdentity,
  ownKey,
  readRows,
} from '@weir/core/contracts';
import type {
  Key,
  KeyedSection,
  MapState,
  Serializer,
  StateDeclaration,
  StateEntry,
  StateMeta,
} from '@weir/core/contracts';
import { ABSENT } from '../cache/cell.js';
import type { PackedBatch } from '../cache/packed-batch.js';
import { STATE_PREFIX_BYTES, keyPrefix, statePrefix, writeKeyPrefix } from '../row-keys.js';
import { KeyIndex } from './key-index.js';
import { placeOfCurrentKey } from './key-place.js';
import { EntryCell, MapCells } from './map-cells.js';
import type { EntryOwner } from './map-cells.js';
import { MapHandle } from './map-handle.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { UNVISITED } from './unvisited.js';
import { ValueSizes } from './value-sizes.js';

/** All maps of one map state: each entry is a row, and a cell of its own. */
export class StoredMaps implements StoredState, EntryOwner {
  readonly meta: StateMeta;
  readonly handle: MapState<Key, unknown>;
  id: number;
  readonly maps: KeyIndex<MapCells> = new KeyIndex<MapCells>();
  readonly sizes: ValueSizes = new ValueSizes();
  readonly #name: string;
  readonly #serializer: Serializer;
  readonly #parts: StoreParts;

  constructor(declaration: StateDeclaration, id: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#name = declaration.name;
    this.#serializer = declaration.serializer;
    this.id = id;
    this.#parts = parts;
    this.handle = new MapHandle(this, parts, declaration.expiry);
  }

  /** The map of the current key, of which nothing is in memory. */
  open(): MapCells {
    const { key, group } = placeOfCurrentKey(this.#parts);
    return new MapCells(key, group);
  }
  /** Adds a cell for an entry that has none. */
  addEntry(map: MapCells, mapKey: Key, value: unknown, valueBytes: number): EntryCell {
    assertKey(mapKey, `State '${this.#name}' of operator ${this.#parts.operator}`);
    const own = ownKey(mapKey);
    // If all its entries were evicted meanwhile, it may have been opened anew.
    const present = this.maps.get(map.identity) ?? map;
    const entry = new EntryCell(this, present, own, value, valueBytes);
    if (present.entries.size === 0) this.maps.set(present.identity, present);
    present.entries.set(keyIdentity(own), entry);
    this.#parts.clock.add(entry, valueBytes + 32);
    return entry;
  }
  /** Adds a cell for an entry that has none, with what is stored. */
  loadEntry(map: MapCells, mapKey: Key): EntryCell {
    assertKey(mapKey, `State '${this.#name}' of operator ${this.#parts.operator}`);
    const stored = this.#stored(map, mapKey);
    return stored === undefined
      ? this.addEntry(map, mapKey, ABSENT, 0)
      : this.addEntry(map, mapKey, this.#serializer.decode(stored), stored.end);
  }
  entryOf(map: MapCells, mapKey: Key): EntryCell | undefined {
    return this.maps.get(map.identity)?.entries.get(keyIdentity(mapKey));
  }

  /** The stored entries that have no cell; page by page, so that a large map is not in memory at once. */
  *storedOf(map: MapCells): Generator<{ readonly mapKey: Key; readonly value: unknown; readonly bytes: number }> {
    const { rows, clock } = this.#parts;
    const { evictions } = clock;
    const prefix = keyPrefix(map.group, this.id, map.key);
    for (const row of rows.scan(prefix)) {
      const mapKey = decodeKey(new ByteReader(row.key, prefix.length), row.key.length - prefix.length);
      if (this.entryOf(map, mapKey) !== undefined) continue;
      // What was evicted since the page was read may have changed the row.
      const stored = clock.evictions === evictions ? new ByteReader(row.value) : this.#stored(map, mapKey);
      if (stored !== undefined) yield { mapKey, value: this.#serializer.decode(stored), bytes: stored.end };
    }
  }
  /** The stored keys of entries that have no cell. */
  *storedKeysOf(map: MapCells): Generator<Key> {
    const prefix = keyPrefix(map.group, this.id, map.key);
    for (const row of this.#parts.rows.scan(prefix)) {
      const mapKey = decodeKey(new ByteReader(row.key, prefix.length), row.key.length - prefix.length);
      if (this.entryOf(map, mapKey) === undefined) yield mapKey;
    }
  }
  #stored(map: MapCells, mapKey: Key): ByteReader | undefined {
    const { rows } = this.#parts;
    rows.key.reset();
    writeKeyPrefix(rows.key, map.group, this.id, map.key);
    encodeKey(mapKey, rows.key);
    return rows.get();
  }

  writeEntry(entry: EntryCell, batch: PackedBatch): void {
    const { map, mapKey, value } = entry;
    const out = value === ABSENT ? batch.remove() : batch.put();
    writeKeyPrefix(out, map.group, this.id, map.key);
    encodeKey(mapKey, out);
    if (value === ABSENT) {
      batch.end();
      return;
    }
    batch.value();
    this.#serializer.encode(value, out);
    const bytes = batch.end();
    this.sizes.learn(value, bytes);
    this.#parts.clock.grow(entry, bytes - entry.valueBytes);
    entry.valueBytes = bytes;
  }
  dropEntry({ map, mapKey }: EntryCell): void {
    map.entries.delete(keyIdentity(mapKey));
    if (map.entries.size === 0) this.maps.delete(map.identity);
  }

  restore(section: KeyedSection, batch: PackedBatch): void {
    readRows(section, this.#serializer, {
      ...UNVISITED,
      map: (key, mapKey, value) => {
        const out = batch.put();
        writeKeyPrefix(out, section.keyGroup, this.id, key);
        encodeKey(mapKey, out);
        batch.value();
        this.#serializer.encode(value, out);
        batch.end();
      },
    });
  }
  *entries(): Iterable<StateEntry> {
    const { rows, keyGroups } = this.#parts;
    for (let group = keyGroups.first; group <= keyGroups.last; group++) {
      for (const row of rows.scan(statePrefix(group, this.id))) {
        const from = new ByteReader(row.key, STATE_PREFIX_BYTES);
        const key = decodeKeyBlock(from);
        const mapKey = decodeKey(from, from.remaining);
        if (this.maps.get(keyIdentity(key))?.entries.has(keyIdentity(mapKey)) === true) continue;
        yield { key, kind: 'map', mapKey, value: this.#serializer.decode(new ByteReader(row.value)) };
      }
    }
    for (const { key, entries } of this.maps.all()) {
      for (const { mapKey, value } of entries.values()) if (value !== ABSENT) yield { key, kind: 'map', mapKey, value };
    }
  }
}
