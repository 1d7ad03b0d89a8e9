/** Actions that a subtask runs between two records, in the order in which they came (Flink: TaskMailbox). */
export class Mailbox {
  readonly #onLetter: () => void;
  #letters: (() => void)[] = [];
  #closed = false;

  constructor(onLetter: () => void) {
    this.#onLetter = onLetter;
  }

  get isEmpty(): boolean {
    return this.#letters.length === 0;
  }

  post(action: () => void): void {
    if (this.#closed) return;
    this.#letters.push(action);
    this.#onLetter();
  }

  /** Runs everything, also what comes meanwhile. What throws ends it: the rest is for a subtask that goes on. */
  read(): void {
    while (this.#letters.length > 0) {
      const letters = this.#letters;
      this.#letters = [];
      for (const letter of letters) letter();
    }
  }

  /** Nothing runs any more, and nothing is taken. */
  close(): void {
    this.#closed = true;
    this.#letters = [];
  }
}
