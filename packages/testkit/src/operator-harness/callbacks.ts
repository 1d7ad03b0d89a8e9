import type { Awaitable } from '@weir/core/contracts';

/** Knows whether one of an operator's callbacks is running, in which alone it may emit and use its state. */
export class Callbacks {
  readonly #onEnd: () => void;
  #running = 0;

  /** `onEnd` is called whenever the last callback that runs has returned or settled. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get areRunning(): boolean {
    return this.#running > 0;
  }

  run<R>(callback: () => R): R {
    this.#running++;
    try {
      return callback();
    } finally {
      this.#leave();
    }
  }

  /** The same for a callback that may return a promise: it runs until that has settled. */
  runUntilSettled(callback: () => Awaitable<void>): Awaitable<void> {
    this.#running++;
    let result: Awaitable<void> = undefined;
    try {
      result = callback();
    } finally {
      if (result === undefined) this.#leave();
    }
    if (result === undefined) return undefined;
    return Promise.resolve(result).finally(() => {
      this.#leave();
    });
  }

  #leave(): void {
    this.#running--;
    if (this.#running === 0) this.#onEnd();
  }
}
