import type { KeyIdentity } from '@weir/core/contracts';
import type { Slot } from './page.js';
import { SEGMENTS, segmentOf } from './segment.js';

/** A `Map` of this size doubles in a few milliseconds; one of a million keys takes hundreds. */
const SPREAD_FROM = 131_072;
/** Keys that move from the single `Map` with every new one: all have moved long before the many are as large. */
const MOVED_AT_ONCE = 4;

/**
 * Finds the slot of a key: in one `Map`, which is the fastest, and in many from a size on at which a single one would stall the thread whenever
 * it grows. What is in the single one moves over little by little, as new keys come.
 */
export class KeyIndex {
  private single = new Map<KeyIdentity, Slot>();
  private segments: Map<KeyIdentity, Slot>[] = [];
  private isSpread = false;
  /** Over what is still to be moved; `single` keeps what has moved until all has. */
  private moving: Iterator<[KeyIdentity, Slot]> | undefined;

  get(identity: KeyIdentity): Slot | undefined {
    return this.isSpread ? this.getSpread(identity) : this.single.get(identity);
  }
  set(identity: KeyIdentity, slot: Slot): void {
    if (!this.isSpread) {
      if (this.single.size < SPREAD_FROM) {
        this.single.set(identity, slot);
        return;
      }
      this.spread();
    }
    this.segmentOf(identity).set(identity, slot);
    if (this.moving !== undefined) this.move(this.moving);
  }
  delete(identity: KeyIdentity): void {
    this.single.delete(identity);
    if (this.isSpread) this.segmentOf(identity).delete(identity);
  }

  private getSpread(identity: KeyIdentity): Slot | undefined {
    const slot = this.segmentOf(identity).get(identity);
    return slot === undefined && this.moving !== undefined ? this.single.get(identity) : slot;
  }
  private segmentOf(identity: KeyIdentity): Map<KeyIdentity, Slot> {
    return this.segments[segmentOf(identity)]!;
  }

  private spread(): void {
    this.segments = Array.from({ length: SEGMENTS }, () => new Map<KeyIdentity, Slot>());
    this.moving = this.single.entries();
    this.isSpread = true;
  }
  private move(from: Iterator<[KeyIdentity, Slot]>): void {
    for (let i = 0; i < MOVED_AT_ONCE; i++) {
      const next = from.next();
      if (next.done === true) {
        this.moving = undefined;
        this.single = new Map();
        return;
      }
      const [identity, slot] = next.value;
      this.segmentOf(identity).set(identity, slot);
    }
  }
}
