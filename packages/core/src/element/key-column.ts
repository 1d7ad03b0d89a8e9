/**
 * Whether anybody reads the keys that travel with the records of a keyed stream. While a job is described it becomes known who does; where
 * nobody does, batches carry none.
 */
export class KeyColumn {
  readonly #parts: readonly KeyColumn[];
  #isRead = false;

  /** `parts`: where the keys come from, if the stream is several in one. */
  constructor(parts: readonly KeyColumn[] = []) {
    this.#parts = parts;
  }

  get isRead(): boolean {
    return this.#isRead;
  }

  read(): void {
    this.#isRead = true;
    for (const part of this.#parts) part.read();
  }
}
