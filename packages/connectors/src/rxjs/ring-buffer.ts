/** A queue with a fixed bound: O(1) at both ends, and never more slots than its capacity. */
export class RingBuffer<T> {
  readonly #capacity: number;
  readonly #slots: (T | undefined)[] = [];
  #head = 0;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }
  get isFull(): boolean {
    return this.#size === this.#capacity;
  }

  /** The caller has made sure that it is not full. */
  push(value: T): void {
    this.#slots[(this.#head + this.#size) % this.#capacity] = value;
    this.#size++;
  }

  /** Removes up to `max` values, the oldest first. */
  take(max: number): T[] {
    const taken: T[] = [];
    for (let left = Math.min(max, this.#size); left > 0; left--) {
      // Within the size, so a slot that was pushed into.
      taken.push(this.#slots[this.#head] as T);
      this.#slots[this.#head] = undefined;
      this.#head = (this.#head + 1) % this.#capacity;
      this.#size--;
    }
    if (this.#size === 0) this.#head = 0;
    return taken;
  }
}
