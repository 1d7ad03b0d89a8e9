/** What a process opens and must close again, whatever becomes of its attempts. */
export class LeftOpen {
  readonly #open = new Map<string, number>();

  /** Something of this kind was opened; call what it returns when it is closed, and then again as often as you like. */
  opened(kind: string): () => void {
    this.#count(kind, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#count(kind, -1);
      isOpen = false;
    };
  }

  /** Undefined: nothing. */
  describe(): string | undefined {
    const rest = [...this.#open].filter(([, count]) => count > 0).map(([kind, count]) => `${String(count)} ${kind}`);
    return rest.length === 0 ? undefined : rest.join(', ');
  }

  #count(kind: string, by: number): void {
    this.#open.set(kind, (this.#open.get(kind) ?? 0) + by);
  }
}
