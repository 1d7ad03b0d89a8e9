import { BATCH_SIZE } from '../element/element.js';

/** A chunk of records should take about this long: short enough to stop in time, long enough to be worth the look at the clock. */
const TARGET_MS = 0.5;

/** Nobody knows yet what a record costs: a whole batch of slow ones would hold the thread for long. */
const FIRST = 64;

/** Records that a chunk should become at most. A stage that stops in the middle of a chunk has to get through the rest before a barrier passes. */
const MOST_GIVEN = 4 * BATCH_SIZE;

/** How many records to hand over before looking at the clock again: follows what the records cost, and how many they become. */
export class ChunkSize {
  #size = FIRST;
  #most = 1;
  #handedOver = 0;

  get size(): number {
    return Math.min(this.#size, this.#most);
  }

  took(ms: number): void {
    this.#handedOver = this.size;
    if (ms > TARGET_MS * 2) this.#size = Math.max(1, Math.floor((this.size * TARGET_MS) / ms));
    else if (ms < TARGET_MS / 2 && this.#size < BATCH_SIZE) this.#size = Math.min(BATCH_SIZE, this.#size * 2);
  }

  /** The stage is done with the last chunk, if there was one since; it has become so many records. */
  gave(records: number): void {
    if (this.#handedOver === 0) return;
    if (records > MOST_GIVEN) this.#most = Math.max(1, Math.floor((this.#handedOver * MOST_GIVEN) / records));
    else this.#most = Math.min(BATCH_SIZE, this.#most * 2);
    this.#handedOver = 0;
  }
}
