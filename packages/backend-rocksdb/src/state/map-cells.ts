import { keyIdentity } from '@weir/core/contracts';
import type { Key, KeyGroup, KeyIdentity } from '@weir/core/contracts';
import { Cell } from '../cache/cell.js';
import type { PackedBatch } from '../cache/packed-batch.js';

/** The entries of one key's map that are in memory. It is in the index of its state while it has any. */
export class MapCells {
  readonly key: Key;
  readonly group: KeyGroup;
  readonly identity: KeyIdentity;
  readonly entries: Map<KeyIdentity, EntryCell> = new Map<KeyIdentity, EntryCell>();

  constructor(key: Key, group: KeyGroup) {
    this.key = key;
    this.group = group;
    this.identity = keyIdentity(key);
  }
}

/** What the cells of a map state need of it. */
export interface EntryOwner {
  writeEntry(entry: EntryCell, batch: PackedBatch): void;
  dropEntry(entry: EntryCell): void;
}

/** One entry of a map. */
export class EntryCell extends Cell {
  readonly owner: EntryOwner;
  readonly map: MapCells;
  readonly mapKey: Key;
  value: unknown;
  /** What is counted for the value. */
  valueBytes: number;

  constructor(owner: EntryOwner, map: MapCells, mapKey: Key, value: unknown, valueBytes: number) {
    super();
    this.owner = owner;
    this.map = map;
    this.mapKey = mapKey;
    this.value = value;
    this.valueBytes = valueBytes;
  }

  protected write(batch: PackedBatch): void {
    this.owner.writeEntry(this, batch);
  }
  drop(): void {
    this.owner.dropEntry(this);
  }
}
