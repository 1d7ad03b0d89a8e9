import type { Key, KeyGroup } from '@weir/core/contracts';

/** Number of an entry in its table. Given to another entry once the first is removed. */
export type Slot = number;

const PAGE_BITS = 12;
const OFFSET = (1 << PAGE_BITS) - 1;

export function pageOf(slot: Slot): number {
  return slot >>> PAGE_BITS;
}
export function offsetOf(slot: Slot): number {
  return slot & OFFSET;
}

/**
 * Entries of a table. Each field has an array of its own, which takes less memory, less of the processor's cache and far less garbage
 * collection than an object per entry; and pages, unlike arrays for the whole table, never have to be copied when the table grows.
 */
export class Page<V> {
  readonly keys: Key[] = [];
  /** The hash of a key is computed once, when its entry is made: the key group is what remains of it. */
  readonly groups: KeyGroup[] = [];
  /** Place among the entries of the group. */
  readonly positions: number[] = [];
  /** The newest capture that holds the entry already or is older than it. Later ones have yet to take it. */
  readonly stamps: number[] = [];
  readonly values: V[] = [];
}
