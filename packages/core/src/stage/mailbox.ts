/** Actions that a subtask runs between two records, in the order in which they came (Flink: TaskMailbox). */
export class Mailbox {
  readonly #onMail: () => void;
  #mails: (() => void)[] = [];
  #closed = false;

  constructor(onMail: () => void) {
    this.#onMail = onMail;
  }

  get isEmpty(): boolean {
    return this.#mails.length === 0;
  }

  post(action: () => void): void {
    if (this.#closed) return;
    this.#mails.push(action);
    this.#onMail();
  }

  /**
   * Runs every mail, also those that come meanwhile. A mail that throws ends it: the rest is for a
   * subtask that goes on.
   */
  read(): void {
    while (this.#mails.length > 0) {
      const mails = this.#mails;
      this.#mails = [];
      for (const mail of mails) mail();
    }
  }

  /** Nothing runs any more, and nothing is taken. */
  close(): void {
    this.#closed = true;
    this.#mails = [];
  }
}
