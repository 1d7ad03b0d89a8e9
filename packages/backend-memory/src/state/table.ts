import { keyIdentity } from '@weir/core/contracts';
import type { Key, KeyGroup, KeyGroupRange } from '@weir/core/contracts';
import { GroupPages } from './group-pages.js';
import { KeyIndex } from './key-index.js';
import { FREE, Page, offsetOf, pageOf } from './page.js';
import type { Slot } from './page.js';

/** So many entries are in the processor's caches anyway. */
const FEW = 16_384;

/** What one state holds, by key and by key group. */
export class Table<V> {
  readonly #first: KeyGroup;
  readonly #groups: GroupPages<V>[];
  private readonly index = new KeyIndex();
  private readonly pages: Page<V>[] = [];
  #size = 0;
  private touched = 0;

  constructor(range: KeyGroupRange) {
    this.#first = range.first;
    this.#groups = Array.from({ length: range.last - range.first + 1 }, () => new GroupPages<V>());
  }

  /** Reads what the next look-ups will read, without anything in between: the processor then waits for several of them at once. */
  lookAhead(records: readonly unknown[], keyOf: (record: never) => Key): void {
    if (this.#size < FEW) return;
    let touched = 0;
    for (const record of records) {
      const slot = this.index.get(keyIdentity(keyOf(record as never)));
      if (slot !== undefined && this.page(slot).values[offsetOf(slot)] !== undefined) touched++;
    }
    // Kept, or the compiler would see that nobody needs it.
    this.touched = touched;
  }
  find(key: Key): Slot | undefined {
    return this.index.get(keyIdentity(key));
  }
  page(slot: Slot): Page<V> {
    return this.pages[pageOf(slot)]!;
  }
  group(group: KeyGroup): GroupPages<V> {
    return this.#groups[group - this.#first]!;
  }
  key(slot: Slot): Key {
    return this.page(slot).keys[offsetOf(slot)]!;
  }
  value(slot: Slot): V {
    return this.page(slot).values[offsetOf(slot)]!;
  }
  setValue(slot: Slot, value: V): void {
    this.page(slot).values[offsetOf(slot)] = value;
  }

  /** The key has no entry yet. */
  add(key: Key, group: KeyGroup, stamp: number, value: V): Slot {
    const slot = this.group(group).take(() => this.#newPage(group));
    const at = offsetOf(slot);
    const page = this.page(slot);
    page.keys[at] = key;
    page.stamps[at] = stamp;
    page.values[at] = value;
    this.#size++;
    this.index.set(keyIdentity(key), slot);
    return slot;
  }

  remove(slot: Slot): void {
    const page = this.page(slot);
    const at = offsetOf(slot);
    this.index.delete(keyIdentity(page.keys[at]!));
    page.stamps[at] = FREE;
    // Not undefined: an array of nothing but numbers is stored and read without boxes.
    page.keys[at] = 0;
    page.values[at] = 0 as V;
    this.#size--;
    this.group(page.group).free(slot);
  }

  *all(): Iterable<Slot> {
    for (const { first, stamps } of this.pages) {
      for (const [at, stamp] of stamps.entries()) if (stamp !== FREE) yield first + at;
    }
  }

  #newPage(group: KeyGroup): Page<V> {
    const page = new Page<V>(group, this.pages.length);
    this.pages.push(page);
    return page;
  }
}
