import { VirtualClock } from '@weir/testkit';

/** A virtual clock on which looking costs time, as computing does: every time slice ends, in the same place in every run. */
export class TickingClock extends VirtualClock {
  readonly #tickMs: number;
  #ticked = 0;

  constructor(tickMs = 0.01) {
    super();
    this.#tickMs = tickMs;
  }

  override monotonic(): number {
    this.#ticked += this.#tickMs;
    return super.monotonic() + this.#ticked;
  }

  /** Lets up to `actions` timers and turns run; false if there was nothing more to do before. */
  async run(actions: number): Promise<boolean> {
    let left = actions;
    try {
      await this.until(() => left-- <= 0);
      return true;
    } catch {
      return false;
    }
  }
}
