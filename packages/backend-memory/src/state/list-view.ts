/** The elements that a list had when it was read. What is added while somebody iterates is not among them. */
export class ListView implements Iterable<unknown> {
  readonly #values: readonly unknown[];
  readonly #length: number;

  constructor(values: readonly unknown[]) {
    this.#values = values;
    this.#length = values.length;
  }

  [Symbol.iterator](): Iterator<unknown> {
    const values = this.#values;
    const length = this.#length;
    let next = 0;
    return {
      next: () => (next < length ? { done: false, value: values[next++] } : { done: true, value: undefined }),
    };
  }
}
