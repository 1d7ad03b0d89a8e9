import { FREE, PAGE_SIZE, offsetOf } from './page.js';
import type { Slot } from './page.js';
import type { Table } from './table.js';

/** Nothing is in the place that was looked at. */
export const NOTHING = -1;
/** Every place was looked at; the next step begins anew. */
export const END = -2;

/** Goes round the entries of a table a step at a time, whatever comes and goes meanwhile. */
export class TableRound {
  readonly #table: Table<unknown>;
  #next: Slot = 0;

  constructor(table: Table<unknown>) {
    this.#table = table;
  }

  /** The slot of an entry, {@link NOTHING} or {@link END}. */
  step(): Slot {
    const slot = this.#next;
    if (slot >= this.#table.end) {
      this.#next = 0;
      return END;
    }
    const { stamps } = this.#table.page(slot);
    const at = offsetOf(slot);
    if (at >= stamps.length) {
      this.#next = slot - at + PAGE_SIZE;
      return NOTHING;
    }
    this.#next = slot + 1;
    return stamps[at] === FREE ? NOTHING : slot;
  }
}
