import type { Clock } from '@weir/core/contracts';

/** After it was held up, a sequence catches up on so much of its time; what it missed before is left out. */
const MOST_BEHIND_MS = 100;
/** Timers are not more exact, and records that are due sooner come together. */
const SHORTEST_WAIT_MS = 1;
/** Time in floating point: a record is not late because of its last bit. */
const ROUNDING = 1e-6;

/** Says how many records are due at an even rate. The first one is due at once. */
export class Pace {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #start: number;
  #sent = 0;

  constructor(perSecond: number, clock: Clock) {
    this.#clock = clock;
    this.#intervalMs = 1000 / perSecond;
    this.#start = clock.monotonic();
  }

  /** Up to `max` records that may go now; they count as sent. */
  take(max: number): number {
    const count = Math.min(max, this.#due());
    this.#sent += count;
    return count;
  }

  /** Until the next record is due. */
  waitMs(): number {
    const due = this.#start + this.#sent * this.#intervalMs - this.#clock.monotonic();
    return Math.max(SHORTEST_WAIT_MS, due);
  }

  #due(): number {
    const elapsed = this.#clock.monotonic() - this.#start;
    const due = Math.floor(elapsed / this.#intervalMs + ROUNDING) + 1 - this.#sent;
    const most = Math.max(1, Math.ceil(MOST_BEHIND_MS / this.#intervalMs));
    if (due <= most) return due;
    this.#start += (due - most) * this.#intervalMs;
    return most;
  }
}
