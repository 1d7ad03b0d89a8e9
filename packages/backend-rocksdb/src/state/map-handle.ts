import { keyIdentity } from '@weir/core/contracts';
import type { Key, KeyIdentity, MapState, StateExpiry } from '@weir/core/contracts';
import { ABSENT } from '../cache/cell.js';
import type { Clock } from '../cache/clock.js';
import type { Generations } from '../cache/generations.js';
import type { CurrentKey } from './current-key.js';
import type { EntryCell, MapCells } from './map-cells.js';
import type { StoreParts } from './stored-state.js';
import { isMutable, type ValueSizes } from './value-sizes.js';

/** What the handle needs of all maps. */
export interface Maps {
  readonly maps: { get(identity: KeyIdentity): MapCells | undefined };
  readonly sizes: ValueSizes;
  open(): MapCells;
  entryOf(map: MapCells, mapKey: Key): EntryCell | undefined;
  addEntry(map: MapCells, mapKey: Key, value: unknown, valueBytes: number): EntryCell;
  loadEntry(map: MapCells, mapKey: Key): EntryCell;
  storedOf(map: MapCells): Iterable<{ readonly mapKey: Key; readonly value: unknown; readonly bytes: number }>;
  storedKeysOf(map: MapCells): Iterable<Key>;
}

/** A cell for each entry of a map is too much at once: room is made after so many. */
const CLEARED_AT_ONCE = 128;

/** The map of the current key. */
export class MapHandle implements MapState<Key, unknown> {
  private readonly state: Maps;
  private readonly current: CurrentKey;
  private readonly clock: Clock;
  private readonly generations: Generations;
  private readonly expiry: StateExpiry | undefined;
  private turn = -1;
  private map: MapCells | undefined;

  constructor(state: Maps, parts: StoreParts, expiry: StateExpiry | undefined) {
    this.state = state;
    this.current = parts.current;
    this.clock = parts.clock;
    this.generations = parts.generations;
    this.expiry = expiry;
  }

  get(mapKey: Key): unknown {
    if (this.clock.isFull) this.clock.makeRoom();
    const map = this.find();
    const entry = map.entries.get(keyIdentity(mapKey)) ?? this.state.loadEntry(map, mapKey);
    return this.read(entry);
  }
  set(mapKey: Key, value: unknown): void {
    if (this.clock.isFull) this.clock.makeRoom();
    const map = this.find();
    const entry = map.entries.get(keyIdentity(mapKey)) ?? this.state.addEntry(map, mapKey, ABSENT, 0);
    this.write(entry, value);
  }
  delete(mapKey: Key): void {
    if (this.clock.isFull) this.clock.makeRoom();
    this.remove(this.find(), mapKey);
  }
  entries(): Iterable<readonly [Key, unknown]> {
    return this.iterate(this.find());
  }
  /** Entry by entry, as Flink does it: what is not in memory is read for its keys. */
  clear(): void {
    if (this.clock.isFull) this.clock.makeRoom();
    const map = this.find();
    for (const entry of map.entries.values()) if (entry.value !== ABSENT) this.write(entry, ABSENT);
    let removed = 0;
    for (const mapKey of this.state.storedKeysOf(map)) {
      this.remove(map, mapKey);
      if (++removed % CLEARED_AT_ONCE === 0) this.clock.makeRoom();
    }
  }

  private *iterate(map: MapCells): Generator<readonly [Key, unknown]> {
    const inMemory = [...map.entries.values()];
    const seen = new Set(inMemory.map(({ mapKey }) => keyIdentity(mapKey)));
    for (const { mapKey, value, bytes } of this.state.storedOf(map)) {
      // Evicted since the beginning: its turn comes below.
      if (seen.has(keyIdentity(mapKey))) continue;
      // What can be changed in place has to be found again; the rest need not be kept.
      yield [mapKey, isMutable(value, this.expiry) ? this.read(this.state.addEntry(map, mapKey, value, bytes)) : value];
    }
    for (const { mapKey } of inMemory) {
      const entry = this.state.entryOf(map, mapKey) ?? this.state.loadEntry(map, mapKey);
      if (entry.value !== ABSENT) yield [mapKey, this.read(entry)];
    }
  }

  private remove(map: MapCells, mapKey: Key): void {
    const entry = this.state.entryOf(map, mapKey);
    // Known not to be stored, or about to be removed.
    if (entry?.value === ABSENT) return;
    this.write(entry ?? this.state.addEntry(map, mapKey, ABSENT, 0), ABSENT);
  }
  private read(entry: EntryCell): unknown {
    entry.isRecent = true;
    const { value } = entry;
    if (isMutable(value, this.expiry)) {
      // Who reads an object may change it without a word.
      if (entry.dirtyIn !== this.generations.number) this.generations.mark(entry);
      entry.lentIn = this.current.callback;
    }
    return value === ABSENT ? undefined : value;
  }
  private write(entry: EntryCell, value: unknown): void {
    entry.isRecent = true;
    if (entry.dirtyIn !== this.generations.number) this.generations.mark(entry);
    entry.value = value;
    if (typeof value === 'object') entry.lentIn = this.current.callback;
    const bytes = value === ABSENT ? 0 : this.state.sizes.of(value);
    this.clock.grow(entry, bytes - entry.valueBytes);
    entry.valueBytes = bytes;
  }
  private find(): MapCells {
    const { turn, key } = this.current;
    if (turn <= 0) throw this.current.violation();
    const isOfKey = this.turn === turn;
    // One without entries may have been overtaken by another of the same key: the index has the one that counts.
    if (isOfKey && this.map !== undefined && this.map.entries.size > 0) return this.map;
    this.turn = turn;
    return (this.map = this.state.maps.get(keyIdentity(key)) ?? (isOfKey ? this.map : undefined) ?? this.state.open());
  }
}
