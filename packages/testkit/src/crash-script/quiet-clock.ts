import { systemClock, type Clock } from '@weir/core/contracts';
import { realTurn } from '../adapters/real-turn.js';

/** More than any test that is not stuck takes: the engine works for some milliseconds in each. */
const MOST_TURNS = 10_000;

/**
 * A clock that knows whether the job that runs on it is busy: the engine asks for a turn whenever it has something to do. Real I/O and timers that
 * somebody waits for are not seen. Its wall clock stands still until it is told to go on; a timer runs out with it or with real time, whichever
 * is first.
 */
export class QuietClock implements Clock {
  readonly #start = systemClock.now();
  #elapsed = 0;
  #turns = 0;
  readonly #timers = new Set<{ readonly due: number; readonly fire: () => void }>();

  now(): number {
    return this.#start + this.#elapsed;
  }
  monotonic(): number {
    return systemClock.monotonic();
  }
  timer(delayMs: number, action: () => void): () => void {
    // Due already: something to do.
    if (delayMs <= 0) return this.nextTurn(action);
    const timer = {
      due: this.now() + delayMs,
      fire: () => {
        cancel();
        action();
      },
    };
    const cancelReal = systemClock.timer(delayMs, timer.fire);
    const cancel = (): void => {
      this.#timers.delete(timer);
      cancelReal();
    };
    this.#timers.add(timer);
    return cancel;
  }
  nextTurn(action: () => void): () => void {
    let isPending = true;
    const end = (): void => {
      if (isPending) this.#turns--;
      isPending = false;
    };
    this.#turns++;
    const cancel = systemClock.nextTurn(() => {
      end();
      action();
    });
    return () => {
      end();
      cancel();
    };
  }

  /** Settles when no turn is asked for and every promise that can settle has settled. Fails if that does not come about. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      await realTurn();
      if (this.#turns === 0) return;
    }
    throw new Error(`the job is still busy after ${String(MOST_TURNS)} turns of the event loop without input`);
  }

  /** Lets the wall clock go on until `elapsed` milliseconds after its start, timer by timer, waiting for quiet before and after each. */
  async elapseTo(elapsed: number): Promise<void> {
    await this.quiet();
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.due - b.due);
      if (next === undefined || next.due > this.#start + elapsed) break;
      this.#elapsed = Math.max(this.#elapsed, next.due - this.#start);
      next.fire();
      await this.quiet();
    }
    this.#elapsed = elapsed;
  }

  /** Sets the wall clock to `elapsed` milliseconds after its start, back also. */
  turnTo(elapsed: number): void {
    this.#elapsed = elapsed;
  }
}
