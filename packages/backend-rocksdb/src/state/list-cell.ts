import type { Key, KeyGroup } from '@weir/core/contracts';
import { Cell } from '../cache/cell.js';
import type { PackedBatch } from '../cache/packed-batch.js';

/** What the cell of a list needs of its state. */
export interface ListOwner {
  writeList(cell: ListCell, batch: PackedBatch): void;
  listStored(cell: ListCell): void;
  dropList(cell: ListCell): void;
}

/** The list of one key: all of it, or only what was appended since it came to memory. */
export class ListCell extends Cell {
  readonly owner: ListOwner;
  readonly key: Key;
  readonly group: KeyGroup;
  values: unknown[] = [];
  /** So many of the values are written, or kept for a frozen generation. */
  written = 0;
  /** The values are the whole list. */
  isWhole = false;
  /** The rows of the list do not stand for its elements any more: they go, and all values are written. */
  isReplaced = false;
  /** The numbers of rows of its own, and, if it is whole, of all. */
  rows: number[] = [];
  /** Rows from this number on are its own: what they hold is in `values`. */
  since: number;
  hasMutable = false;
  /** What is counted for the values. */
  valueBytes = 0;

  constructor(owner: ListOwner, key: Key, group: KeyGroup, since: number) {
    super();
    this.owner = owner;
    this.key = key;
    this.group = group;
    this.since = since;
  }

  protected write(batch: PackedBatch): void {
    this.owner.writeList(this, batch);
  }
  override stored(): void {
    this.owner.listStored(this);
  }
  drop(): void {
    this.owner.dropList(this);
  }
}
