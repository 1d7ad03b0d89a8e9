import type { Awaitable } from '@weir/core/contracts';
import { realTurn } from '../adapters/real-turn.js';

/** A piece of work that is not done after so many turns of the real event loop waits for something that nobody knows of. */
const MOST_TURNS = 1_000_000;

/**
 * What plugins do that the simulated clock does not see: files and threads of a database. The process takes no step before it is done, as if it
 * took no time at all, so that a seed still is a schedule.
 */
export class OutsideWork {
  #running = 0;
  #processes = 0;
  readonly #pauses = new Set<(reason: Error) => void>();
  readonly #closing = new Set<() => Awaitable<void>>();

  /** Never settles once the process has ended that it was for: nobody there goes on. */
  async run<T>(work: () => Awaitable<T>): Promise<T> {
    const process = this.#processes;
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      if (process !== this.#processes) await new Promise(() => undefined);
    }
  }

  /**
   * What the work waits for is simulated, so steps have to be taken meanwhile. Rejects when the process ends: what it waits for does not come then,
   * and the work has files to close.
   */
  async pause<T>(waiting: PromiseLike<T>): Promise<T> {
    this.#running--;
    let end = (_reason: Error): void => undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        end = reject;
        this.#pauses.add(end);
        waiting.then(resolve, reject);
      });
    } finally {
      this.#pauses.delete(end);
      this.#running++;
    }
  }

  /** Settles when nothing is under way that may not wait for a step. */
  async settled(): Promise<void> {
    for (let turns = 0; this.#running > 0; turns++) {
      if (turns === MOST_TURNS) throw new Error('a state backend waits for something that does not come');
      await realTurn();
    }
  }

  /** Something is open that the end of a real process would close. The function returned says that it was closed. */
  opened(close: () => Awaitable<void>): () => void {
    this.#closing.add(close);
    return () => {
      this.#closing.delete(close);
    };
  }

  /** The process is no more. */
  async end(): Promise<void> {
    this.#processes++;
    for (const end of this.#pauses) end(new Error('the simulated process has ended'));
    await this.settled();
    for (const close of this.#closing) {
      try {
        await close();
      } catch {
        // Nobody is left who could be told.
      }
    }
    this.#closing.clear();
  }
}
