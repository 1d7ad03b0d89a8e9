import { systemClock, type Clock } from '@weir/core/contracts';
import { realTurn } from '../adapters/real-turn.js';

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

  /** Settles when no turn is asked for and every promise that can settle has settled. */
  async quiet(): Promise<void> {
    do await realTurn();
    while (this.#turns > 0);
  }
}
