import { BATCH_SIZE } from '../element/element.js';

/** Records that a stage may send into full channels, and hold, so that a barrier need not wait for it. */
const MOST = 256 * BATCH_SIZE;

/**
 * Overdraft of a stage's output while a barrier that overtakes waits (Flink: overdraft buffers).
 *
 * A barrier can overtake what waits in channels, but not the work that a stage has begun: a record
 * that is half expanded is half counted. So the stage goes on with what is suspended without asking
 * for demand. What it sends is overtaken right after, and what reaches a sink is held unwritten. An
 * expansion without end is left where it is after so many records, and the barrier waits for it.
 */
export class Overdraft {
  #until: number | undefined;

  /** `moved`: records that the stage has sent or held so far. */
  begin(moved: number): void {
    this.#until ??= moved + MOST;
  }

  end(): void {
    this.#until = undefined;
  }

  allows(moved: number): boolean {
    return this.#until !== undefined && moved < this.#until;
  }
}
