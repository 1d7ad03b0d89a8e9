import type { PackedBatch } from './packed-batch.js';

/** Of a cell whose content is what the database has. Generations count from 1. */
export const CLEAN = 0;
/** Of a cell whose content is on its way to the database, where nobody finds it yet. */
export const ON_ITS_WAY = -1;

/** What stands for: nothing is stored. */
export const ABSENT: unique symbol = Symbol('absent');

/** What a cell costs in memory beyond its key and its value: objects, and the places in the index and in the clock. */
export const CELL_BYTES = 160;

/**
 * A row, or a list, that is in memory as live values. Cells are what state costs per record, so their fields are public, and plain.
 */
export abstract class Cell {
  /** Its place in the clock; negative once it has been evicted. */
  slot = -1;
  /** Used since the hand of the clock came by. */
  isRecent = true;
  /** The callback that was handed a value which it may change without a word; until it ends the cell stays. */
  lentIn = -1;
  /** The generation that is to write it, {@link CLEAN} or {@link ON_ITS_WAY}. */
  dirtyIn: number = CLEAN;
  /** Its place in that generation. */
  dirtyAt = 0;
  /** About what it takes in memory. */
  bytes = 0;

  /** Writes what the database does not have yet. Throws, and the batch is as it was, if a value cannot be encoded. */
  encode(batch: PackedBatch): void {
    const { length } = batch;
    try {
      this.write(batch);
    } catch (error) {
      batch.cutTo(length);
      throw error;
    }
  }
  protected abstract write(batch: PackedBatch): void;
  /** The database has all that it holds. */
  stored(): void {
    // Most keep it all the same.
  }
  /** It was evicted: nobody finds it any more. */
  abstract drop(): void;
}
