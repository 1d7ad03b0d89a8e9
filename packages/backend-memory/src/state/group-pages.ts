import { PAGE_SIZE, Page, offsetOf, pageOf } from './page.js';
import type { Slot } from './page.js';

/** The pages of one key group, all full but for the last. An entry stays in its place; a place that became free is taken by the next entry. */
export class GroupPages<V> {
  readonly #pages: Page<V>[] = [];
  readonly #free: Slot[] = [];

  /** Places, free ones included. */
  get length(): number {
    const { length } = this.#pages;
    return length === 0 ? 0 : (length - 1) * PAGE_SIZE + this.#pages[length - 1]!.keys.length;
  }
  /** The page that holds the `place`-th entry of the group, at `offsetOf(place)`. */
  pageAt(place: number): Page<V> {
    return this.#pages[pageOf(place)]!;
  }

  slotAt(place: number): Slot {
    return this.pageAt(place).first + offsetOf(place);
  }

  free(slot: Slot): void {
    this.#free.push(slot);
  }
  /** A slot for one more entry; `newPage` is asked for a page when all are full. */
  take(newPage: () => Page<V>): Slot {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const { length } = this;
    if (offsetOf(length) === 0) this.#pages.push(newPage());
    return this.slotAt(length);
  }
}
