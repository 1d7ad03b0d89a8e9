import { KeyBlocks } from './key-blocks.js';
import type { PageImage } from './page-image.js';
import type { Key, KeyGroup } from '@weir/core/contracts';

/** Number of an entry in its table. Given to another entry once the first is removed. */
export type Slot = number;

const PAGE_BITS = 10;
export const PAGE_SIZE: number = 1 << PAGE_BITS;
const OFFSET = PAGE_SIZE - 1;

export function pageOf(slot: Slot): number {
  return slot >>> PAGE_BITS;
}
export function offsetOf(slot: Slot): number {
  return slot & OFFSET;
}

/** The stamp of a slot without an entry: newer than every capture, so that none takes it. */
export const FREE = 0x7fffffff;

/**
 * Entries of one key group. Each field has an array of its own, which takes less memory, less of the processor's cache and far less garbage
 * collection than an object per entry. What a capture writes one after the other lies one after the other. Pages, unlike arrays for a whole
 * table, never have to be copied when it grows.
 */
export class Page<V> {
  readonly group: KeyGroup;
  /** Slot of the first entry. */
  readonly first: Slot;
  readonly keys: Key[] = [];
  /** The newest capture that holds the entry already or is older than it. Later ones have yet to take it. */
  readonly stamps: number[] = [];
  /** The same for all entries at once: what is younger than it has a stamp of its own. */
  taken: number = NO_CAPTURE;
  /** The newest capture that took single entries. */
  parted: number = NO_CAPTURE;
  /** The newest capture when it was found that none takes all at once. */
  mixed: number = NO_CAPTURE;
  image: PageImage | undefined;
  /** Since a capture last took the page: what has come or gone, or what is not worth an image. */
  keysAre: 'new' | 'known' | 'unfit' = 'new';
  /** How often the image was of no use because values had another length. */
  misfits = 0;
  readonly values: V[] = [];
  readonly keyBlocks: KeyBlocks = new KeyBlocks();
  /** Marks of the last changes of entries, see `ChangeLog.mark`. As long as it has to be: empty where nobody asks what has changed. */
  readonly marks: number[] = [];

  constructor(group: KeyGroup, number: number) {
    this.group = group;
    this.first = number << PAGE_BITS;
  }

  /** The entry at `at` has come or gone. */
  keyChanged(at: number): void {
    this.keyBlocks.replaced(at);
    this.image = undefined;
    this.keysAre = 'new';
    this.misfits = 0;
  }
  /** When the entry at `offset` changed last, as far as that is known. */
  markAt(offset: number): number {
    return offset < this.marks.length ? this.marks[offset]! : UNMARKED;
  }
  setMark(offset: number, mark: number): void {
    const { marks } = this;
    while (marks.length < offset) marks.push(UNMARKED);
    marks[offset] = mark;
  }
}

/** No capture, or older than all of them. */
export const NO_CAPTURE = -1;

/** Not changed since anybody asks for changes. */
export const UNMARKED = 0;
