import { nextTurn, type Clock } from '../contracts/clock.js';

/** So long a piece of work may hold the thread. */
const SLICE_MS = 4;
/** Between two looks at the clock. */
const STEPS_PER_LOOK = 16;

/** Lets timers, I/O and other code of the process run now and then, in work that is in proportion to the size of a job rather than to its records. */
export class Pauses {
  readonly #clock: Clock;
  #until = 0;
  #steps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The work begins: what was before it has let others run. */
  begin(): void {
    this.#until = this.#clock.monotonic() + SLICE_MS;
  }

  /** Settles when the work may go on; undefined: right now. */
  readonly due = (): Promise<void> | undefined => {
    if (++this.#steps % STEPS_PER_LOOK !== 0 || this.#clock.monotonic() < this.#until) return undefined;
    return this.#pause();
  };

  async #pause(): Promise<void> {
    await nextTurn(this.#clock);
    this.begin();
  }
}
