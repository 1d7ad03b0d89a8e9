import { encodeKeyBlock, keyIdentity } from '@weir/core/contracts';
import type { ByteWriter, Key, KeyGroup, KeyGroupRange } from '@weir/core/contracts';
import { GroupPages } from './group-pages.js';
import { KeyIndex } from './key-index.js';
import { FREE, PAGE_SIZE, Page, offsetOf, pageOf } from './page.js';
import type { Slot } from './page.js';

/** So many entries are in the processor's caches anyway. */
const FEW = 16_384;
/**
 * Up to so many entries, their keys are kept encoded too: some 3 MB. Beyond that it would be a large part of what captures may hold in addition to
 * the state.
 */
const ENCODED_KEYS = 131_072;
/** No entry when it was looked for. */
const ABSENT = -1;

/** What one state holds, by key and by key group. */
export class Table<V> {
  readonly #first: KeyGroup;
  readonly #groups: GroupPages<V>[];
  private readonly index = new KeyIndex();
  private readonly pages: Page<V>[] = [];
  /** Of each page, one step nearer: what is read for every record. */
  private readonly valuesOfPages: V[][] = [];
  #size = 0;
  /** Slots of the keys looked ahead for, by their places; good for as long as no slot may have become another key's. */
  private ahead = new Int32Array(0);
  private isAhead = false;
  /** Look-ups since the last look ahead. */
  private asked = 0;
  private touched = 0;

  constructor(range: KeyGroupRange) {
    this.#first = range.first;
    this.#groups = Array.from({ length: range.last - range.first + 1 }, () => new GroupPages<V>());
  }

  get size(): number {
    return this.#size;
  }

  /** There are few enough. */
  get keepsKeys(): boolean {
    return this.#size <= ENCODED_KEYS;
  }
  /** Appends the key at `at` in `page` to `out`, as captures write it. */
  writeKey(page: Page<V>, at: number, out: ByteWriter): void {
    if (this.keepsKeys) {
      page.keyBlocks.write(at, page.keys, out);
    } else {
      page.keyBlocks.forget();
      encodeKeyBlock(page.keys[at]!, out);
    }
  }

  /**
   * Finds what is asked for next, with nothing in between: the processor then waits for memory for several keys at once. Not worth it for few
   * entries, nor if most of the keys before were not asked for here.
   */
  lookAhead(keys: readonly Key[]): void {
    const isAskedFor = this.asked * 2 >= keys.length;
    this.asked = 0;
    this.isAhead = this.#size >= FEW && isAskedFor;
    if (!this.isAhead) return;
    const { length } = keys;
    if (this.ahead.length < length) this.ahead = new Int32Array(length);
    const { ahead } = this;
    for (let place = 0; place < length; place++) ahead[place] = this.find(keys[place]!) ?? ABSENT;
    let touched = 0;
    for (let place = 0; place < length; place++) {
      const slot = ahead[place]!;
      if (slot !== ABSENT && this.valuesAround(slot)[offsetOf(slot)] !== undefined) touched++;
    }
    // Kept, or the compiler would see that nobody needs it.
    this.touched = touched;
  }
  find(key: Key): Slot | undefined {
    return this.index.get(keyIdentity(key));
  }
  /** As {@link find}, for the key that is at `place` among those looked ahead for. */
  findAt(key: Key, place: number): Slot | undefined {
    this.asked++;
    const slot = this.isAhead && place >= 0 ? this.ahead[place]! : ABSENT;
    return slot === ABSENT ? this.find(key) : slot;
  }
  page(slot: Slot): Page<V> {
    return this.pages[pageOf(slot)]!;
  }
  /** The values of the entry's page; it is the one at `offsetOf(slot)`. */
  valuesAround(slot: Slot): V[] {
    return this.valuesOfPages[pageOf(slot)]!;
  }
  /** No entry has this slot, nor a higher one. */
  get end(): Slot {
    return this.pages.length * PAGE_SIZE;
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
    page.keyChanged(at);
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
    page.keyChanged(at);
    page.stamps[at] = FREE;
    // Not undefined: an array of nothing but numbers is stored and read without boxes.
    page.keys[at] = 0;
    page.values[at] = 0 as V;
    this.#size--;
    this.isAhead = false;
    this.group(page.group).free(slot);
  }

  /** The same for the entry of `key`, if there is one. */
  removeKey(key: Key): void {
    const slot = this.find(key);
    if (slot !== undefined) this.remove(slot);
  }

  *all(): Iterable<Slot> {
    for (const { first, stamps } of this.pages) {
      for (const [at, stamp] of stamps.entries()) if (stamp !== FREE) yield first + at;
    }
  }

  #newPage(group: KeyGroup): Page<V> {
    const page = new Page<V>(group, this.pages.length);
    this.pages.push(page);
    this.valuesOfPages.push(page.values);
    return page;
  }
}
