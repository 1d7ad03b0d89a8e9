/** A promise whose outcome can be asked for without waiting. */
export class Outcome<V extends object> {
  /** Settles with the promise; never rejects. */
  readonly settled: Promise<void>;
  #value: V | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(promise: Promise<V>) {
    this.settled = promise.then(
      (value) => {
        this.#value = value;
      },
      (error: unknown) => {
        this.#failure = { error };
      },
    );
  }

  /** Undefined: not yet. Throws what the promise rejected with. */
  get(): V | undefined {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#value;
  }
}
