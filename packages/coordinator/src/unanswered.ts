/** Calls to the storage that were given up before they were answered: whatever they were to do, they may still do. */
export class UnansweredCalls {
  readonly #calls = new Set<Promise<unknown>>();

  get count(): number {
    return this.#calls.size;
  }

  add(call: Promise<unknown>): void {
    this.#calls.add(call);
    const answered = (): void => {
      this.#calls.delete(call);
    };
    call.then(answered, answered);
  }

  /** Settles once there is none. */
  async answered(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }
}
