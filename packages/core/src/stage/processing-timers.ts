import type { Clock } from '../contracts/clock.js';

/** Actions of a stage that wait for a processing time, and from then on for their turn. */
export class ProcessingTimers {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  /** Each stops the clock from calling. */
  readonly #waiting = new Set<() => void>();
  readonly #due = new Set<() => void>();
  #closed = false;

  /** `onDue` is called when the time of one has come. */
  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Nothing waits for its time or its turn. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#due.size === 0;
  }

  /** The function returned cancels it, also when it is due already. */
  after(delayMs: number, action: () => void): () => void {
    if (this.#closed) return () => undefined;
    // One of its own: the same action may be asked for twice.
    const due = (): void => {
      action();
    };
    const cancel = this.#clock.timer(delayMs, () => {
      this.#waiting.delete(cancel);
      this.#due.add(due);
      this.#onDue();
    });
    this.#waiting.add(cancel);
    return () => {
      this.#waiting.delete(cancel);
      cancel();
      this.#due.delete(due);
    };
  }

  /** Runs what is due by now, in the order in which it fell due. False: nothing is. */
  run(): boolean {
    if (this.#due.size === 0) return false;
    for (const due of [...this.#due]) if (this.#due.delete(due)) due();
    return true;
  }

  /** Nothing runs any more, and nothing is taken. */
  close(): void {
    this.#closed = true;
    for (const cancel of this.#waiting) cancel();
    this.#waiting.clear();
    this.#due.clear();
  }
}
