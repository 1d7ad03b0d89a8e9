import { BATCH_SIZE } from '../element/element.js';

/** A chunk of records should take about this long: short enough to stop in time, long enough to be worth the look at the clock. */
const TARGET_MS = 0.5;

/** Nobody knows yet what a record costs: a whole batch of slow ones would hold the thread for long. */
const FIRST = 64;

/** How many records to hand over before looking at the clock again: follows what the records cost. */
export class ChunkSize {
  #size = FIRST;

  get size(): number {
    return this.#size;
  }

  took(ms: number): void {
    if (ms > TARGET_MS * 2) this.#size = Math.max(1, Math.floor((this.#size * TARGET_MS) / ms));
    else if (ms < TARGET_MS / 2 && this.#size < BATCH_SIZE) this.#size = Math.min(BATCH_SIZE, this.#size * 2);
  }
}
