import { keyIdentity } from '@weir/core/contracts';
import type { Key, KeyGroup, KeyGroupRange } from '@weir/core/contracts';
import { KeyIndex } from './key-index.js';
import { Page, offsetOf, pageOf } from './page.js';
import type { Slot } from './page.js';

/** So many entries are in the processor's caches anyway. */
const FEW = 16_384;

/** What one state holds, by key and by key group. */
export class Table<V> {
  readonly #first: KeyGroup;
  readonly #groups: Slot[][];
  private readonly index = new KeyIndex();
  private readonly pages: Page<V>[] = [];
  readonly #free: Slot[] = [];
  #end: Slot = 0;
  private touched = 0;

  constructor(range: KeyGroupRange) {
    this.#first = range.first;
    this.#groups = Array.from({ length: range.last - range.first + 1 }, () => []);
  }

  /** Reads what the next look-ups will read, without anything in between: the processor then waits for several of them at once. */
  lookAhead(records: readonly unknown[], keyOf: (record: never) => Key): void {
    if (this.#end < FEW) return;
    let touched = 0;
    for (const record of records) {
      const slot = this.index.get(keyIdentity(keyOf(record as never)));
      if (slot !== undefined) touched += this.page(slot).stamps[offsetOf(slot)]!;
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
  key(slot: Slot): Key {
    return this.page(slot).keys[offsetOf(slot)]!;
  }
  keyGroup(slot: Slot): KeyGroup {
    return this.page(slot).groups[offsetOf(slot)]!;
  }
  value(slot: Slot): V {
    return this.page(slot).values[offsetOf(slot)]!;
  }
  setValue(slot: Slot, value: V): void {
    this.page(slot).values[offsetOf(slot)] = value;
  }
  stamp(slot: Slot): number {
    return this.page(slot).stamps[offsetOf(slot)]!;
  }
  setStamp(slot: Slot, stamp: number): void {
    this.page(slot).stamps[offsetOf(slot)] = stamp;
  }

  /** The key has no entry yet. */
  add(key: Key, group: KeyGroup, stamp: number, value: V): Slot {
    const slot = this.#free.pop() ?? this.#end++;
    const at = offsetOf(slot);
    const page = (this.pages[pageOf(slot)] ??= new Page());
    const members = this.#groups[group - this.#first]!;
    page.keys[at] = key;
    page.groups[at] = group;
    page.positions[at] = members.push(slot) - 1;
    page.stamps[at] = stamp;
    page.values[at] = value;
    this.index.set(keyIdentity(key), slot);
    return slot;
  }

  /** The last entry of the group takes the removed one's place in it, so whoever walks a group across turns walks it backwards. */
  remove(slot: Slot): void {
    const page = this.page(slot);
    const at = offsetOf(slot);
    const members = this.#groups[page.groups[at]! - this.#first]!;
    const last = members.pop()!;
    if (last !== slot) {
      members[page.positions[at]!] = last;
      this.page(last).positions[offsetOf(last)] = page.positions[at]!;
    }
    this.index.delete(keyIdentity(page.keys[at]!));
    // Not undefined: an array of nothing but numbers is stored and read without boxes.
    page.keys[at] = 0;
    page.values[at] = 0 as V;
    this.#free.push(slot);
  }

  group(group: KeyGroup): readonly Slot[] {
    return this.#groups[group - this.#first]!;
  }
  *all(): Iterable<Slot> {
    for (const members of this.#groups) yield* members;
  }
}
