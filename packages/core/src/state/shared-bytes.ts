interface Range {
  readonly owner: object;
  readonly start: number;
  readonly end: number;
}

/**
 * Remembers which bytes of which buffers a value uses. Views come back with a buffer of their own, so two that overlap would no longer
 * see each other's writes. Views side by side are fine: small Buffers of Node lie in one pool.
 */
export class SharedBytes {
  /** Disjoint, ascending. */
  readonly #used = new Map<ArrayBuffer, Range[]>();

  /** False if some of the bytes belong to another owner. The same owner may come again. */
  add(owner: object, buffer: ArrayBuffer, start: number, length: number): boolean {
    if (length === 0) return true;
    const end = start + length;
    let ranges = this.#used.get(buffer);
    if (ranges === undefined) this.#used.set(buffer, (ranges = []));
    let at = ranges.length;
    // From the end: views are usually met in the order in which they were made.
    while (at > 0 && ranges[at - 1]!.start >= end) at--;
    const before = ranges[at - 1];
    if (before !== undefined && before.end > start) return before.owner === owner;
    ranges.splice(at, 0, { owner, start, end });
    return true;
  }
}
