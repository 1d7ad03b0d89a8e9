import type { SourceOutside } from '../../src/index.js';

/** What is between a source of these tests and its input. */
export class Outside implements Required<SourceOutside> {
  #state: 'works' | 'fails' | 'hangs' = 'works';

  fail(): void {
    this.#state = 'fails';
  }
  hang(): void {
    this.#state = 'hangs';
  }
  work(): void {
    this.#state = 'works';
  }

  /** One call to the input: it takes a few microtasks, and what it brings is read at its end. */
  async call<V>(read: () => V, signal: AbortSignal): Promise<V> {
    await Promise.resolve();
    if (this.#state === 'fails') throw new Error('the input is down');
    if (this.#state === 'hangs') await aborted(signal);
    signal.throwIfAborted();
    return read();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
}
