import type { KeyGroupRange } from '../contracts/snapshot.js';
import type { KeyGroup } from '../element/ids.js';

/** Event time of the key groups that are restored; of a group that comes several times the last one counts. */
export class GroupWatermarks {
  readonly #wanted: KeyGroupRange;
  readonly #watermarks = new Map<KeyGroup, number>();

  constructor(wanted: KeyGroupRange) {
    this.#wanted = wanted;
  }

  /** Undefined: the operator had none yet. */
  ofGroup(keyGroup: KeyGroup, watermark: number | undefined): void {
    this.#watermarks.set(keyGroup, watermark ?? Number.NEGATIVE_INFINITY);
  }

  ofRange({ first, last }: KeyGroupRange, watermark: number | undefined): void {
    const end = Math.min(last, this.#wanted.last);
    for (let group = Math.max(first, this.#wanted.first); group <= end; group++) this.ofGroup(group, watermark);
  }

  /**
   * Nothing that any of the groups had yet to see counts as late. Undefined: there is no group. The final watermark said that nothing would follow,
   * but whoever restores may have more: it comes again by itself if not.
   */
  get smallest(): number | undefined {
    let smallest = Number.POSITIVE_INFINITY;
    for (const watermark of this.#watermarks.values()) smallest = Math.min(smallest, watermark);
    return smallest === Number.POSITIVE_INFINITY ? undefined : smallest;
  }
}
