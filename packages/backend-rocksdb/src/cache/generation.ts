import { CLEAN } from './cell.js';
import type { Cell } from './cell.js';
import { BATCH_BYTES, PackedBatch } from './packed-batch.js';

/** What wants to see the database as it is when a generation has been written, and nothing younger has. */
export interface Moment {
  /** False: it was released, nobody comes to look. */
  readonly isWanted: boolean;
  /** The moment is there. With a promise, nothing more may be written until it settles; it does not reject. */
  reach(): Promise<void> | void;
  /** The generation could not be written whole. */
  fail(reason: Error): void;
}

/** What has changed between two captures and is not in the database yet: cells as they are, and operations of cells that have changed since. */
export class Generation {
  readonly number: number;
  readonly cells: Cell[] = [];
  readonly #preserved: PackedBatch[] = [];
  /** Of the operations. */
  bytes = 0;
  moment: Moment | undefined;
  failure: Error | undefined;

  constructor(number: number) {
    this.number = number;
  }

  /** The cell is in no generation. */
  add(cell: Cell): void {
    cell.dirtyIn = this.number;
    cell.dirtyAt = this.cells.length;
    this.cells.push(cell);
  }
  remove(cell: Cell): void {
    const last = this.cells.pop()!;
    if (last !== cell) {
      this.cells[cell.dirtyAt] = last;
      last.dirtyAt = cell.dirtyAt;
    }
    cell.dirtyIn = CLEAN;
  }

  /** Keeps what `cell`, which is removed, has to write: it is about to change. */
  preserve(cell: Cell): void {
    this.remove(cell);
    const batch = this.#open();
    const { length } = batch;
    cell.encode(batch);
    this.bytes += batch.length - length;
  }
  /** Some of what was kept, if there are at least so many bytes of it. */
  takePreserved(least: number): PackedBatch | undefined {
    const batch = this.#preserved[0];
    if (batch === undefined || batch.length < least) return undefined;
    this.#preserved.shift();
    this.bytes -= batch.length;
    return batch;
  }

  #open(): PackedBatch {
    const last = this.#preserved.at(-1);
    if (last !== undefined && last.length < BATCH_BYTES) return last;
    const batch = new PackedBatch();
    this.#preserved.push(batch);
    return batch;
  }
}
