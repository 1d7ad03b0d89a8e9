import { systemClock, type Clock } from '@weir/core/contracts';
import { realTurn } from '../adapters/real-turn.js';

/** More than any test that is not stuck takes: the engine works for some milliseconds in each. */
const MOST_TURNS = 10_000;

/**
 * The system's clock, which knows whether the job that runs on it is busy: the engine asks for a turn whenever it has something to do. Real I/O and
 * timers that somebody waits for are not seen.
 */
export class QuietClock implements Clock {
  #turns = 0;

  now(): number {
    return systemClock.now();
  }
  monotonic(): number {
    return systemClock.monotonic();
  }
  timer(delayMs: number, action: () => void): () => void {
    return systemClock.timer(delayMs, action);
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
}
