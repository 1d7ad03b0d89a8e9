import type { KeyIdentity } from '@weir/core/contracts';
import type { Slot } from './page.js';
import { SEGMENTS, segmentOf } from './segment.js';

/** A `Map` of this size doubles in about a millisecond; one of a million keys takes hundreds. */
const SPREAD_FROM = 16_384;

/** Finds the slot of a key: in one `Map`, and in many from a size on at which a single one would stall the thread whenever it grows. */
export class KeyIndex {
  private segments: Map<KeyIdentity, Slot>[] = [new Map<KeyIdentity, Slot>()];
  private isSpread = false;

  get(identity: KeyIdentity): Slot | undefined {
    return this.segmentOf(identity).get(identity);
  }
  set(identity: KeyIdentity, slot: Slot): void {
    if (!this.isSpread && this.segments[0]!.size === SPREAD_FROM) this.spread();
    this.segmentOf(identity).set(identity, slot);
  }
  delete(identity: KeyIdentity): void {
    this.segmentOf(identity).delete(identity);
  }

  private segmentOf(identity: KeyIdentity): Map<KeyIdentity, Slot> {
    return this.segments[this.isSpread ? segmentOf(identity) : 0]!;
  }

  private spread(): void {
    const [all] = this.segments;
    this.segments = Array.from({ length: SEGMENTS }, () => new Map<KeyIdentity, Slot>());
    this.isSpread = true;
    for (const [identity, slot] of all!) this.segmentOf(identity).set(identity, slot);
  }
}
