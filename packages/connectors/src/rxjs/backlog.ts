/** Records between a writer and its committer, counted: whether they are too many, and who waits for them to become fewer. */
export class Backlog {
  readonly #capacity: number;
  #size = 0;
  readonly #waiting = new Set<() => void>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }
  get isFull(): boolean {
    return this.#size >= this.#capacity;
  }

  added(count: number): void {
    this.#size += count;
  }

  removed(count: number): void {
    this.#size -= count;
    if (this.isFull) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const goOn of waiting) goOn();
  }

  /** Runs `goOn` once it is no longer full. The function returned takes that back. */
  onRoom(goOn: () => void): () => void {
    this.#waiting.add(goOn);
    return () => {
      this.#waiting.delete(goOn);
    };
  }
}
