/** Holds a source while a checkpoint is taken. */
export class Standstill {
  #over: Promise<void> | undefined;
  #release: () => void = () => undefined;

  /** Settles when the source may go on; undefined if it may now. */
  get over(): Promise<void> | undefined {
    return this.#over;
  }
  begin(): void {
    this.#over ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }
  end(): void {
    this.#over = undefined;
    this.#release();
  }
}
