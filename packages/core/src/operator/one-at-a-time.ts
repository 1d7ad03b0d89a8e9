import type { Flow } from './flow.js';

/**
 * Lets an operator work on one element at a time, although its work may be suspended: what arrives meanwhile waits behind it. The operators
 * in front look at the flow only between two of their own records, so several batches may still come.
 */
export class OneAtATime {
  readonly #flow: Flow;
  #suspended = 0;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  /** Does `work` now, or once everything before it is done. */
  take(work: () => void): void {
    if (this.#suspended === 0) work();
    else this.suspend(work);
  }

  /** The work of now stops here and goes on with `rest`, before anything that arrives later. */
  suspend(rest: () => void): void {
    this.#suspended++;
    this.#flow.suspend(() => {
      this.#suspended--;
      rest();
    });
  }
}
