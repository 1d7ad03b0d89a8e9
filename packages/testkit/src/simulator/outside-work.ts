import type { Awaitable } from '@weir/core/contracts';
import { isUsingFiles, realTurn } from '../adapters/real-turn.js';

/** A piece of work that is not done after so many turns of the real event loop waits for something that nobody knows of. */
const MOST_TURNS = 1_000_000;

/**
 * What plugins do that the simulated clock does not see: files and threads of a database. The process takes no step before it is done, as if it
 * took no time at all, so that a seed still is a schedule.
 */
export class OutsideWork {
  #process = new Set<Work>();
  readonly #closing = new Set<() => Awaitable<void>>();

  /** Never settles once the process has ended that it was for: nobody there goes on. */
  async run<T>(act: (work: Work) => Awaitable<T>): Promise<T> {
    const process = this.#process;
    const work = new Work();
    process.add(work);
    try {
      return await act(work);
    } finally {
      process.delete(work);
      if (process !== this.#process) await new Promise(() => undefined);
    }
  }

  /** Settles when nothing is under way that may not wait for a step. */
  async settled(works: Set<Work> = this.#process): Promise<void> {
    for (let turns = 0; works.size > 0; turns++) {
      if (turns === MOST_TURNS) throw new Error('a state backend waits for something that does not come');
      // Work may do several things at once: while one of them waits for a step, the others still use files.
      const all = [...works];
      const isIdle = all.every(({ isWaiting }) => isWaiting) && !isUsingFiles();
      if (isIdle && !all.some((work) => work.askNext())) return;
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
    const works = this.#process;
    this.#process = new Set();
    for (const work of works) work.end();
    await this.settled(works);
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

/** One piece of work, as what it is given sees it. */
export class Work {
  readonly #asked = new Map<number, () => void>();
  readonly #pauses = new Set<(reason: Error) => void>();
  #places = 0;
  #hasEnded = false;

  /** All of it that does not use files waits for steps. */
  get isWaiting(): boolean {
    return this.#pauses.size > 0;
  }

  /**
   * What the work waits for is simulated, so steps have to be taken meanwhile. Rejects when the process ends: what it waits for does not come then,
   * and the work has files to close.
   */
  pause<T>(waiting: PromiseLike<T>): Promise<T> {
    return this.#pause((resolve, reject) => {
      waiting.then(resolve, reject);
    });
  }
  /** The same for what is not asked for before nothing else is under way: in the order of `place`, and not of what happens to be faster. */
  ask<T>(place: number, ask: () => PromiseLike<T>): Promise<T> {
    return this.#pause((resolve, reject) => {
      this.#asked.set(place, () => {
        ask().then(resolve, reject);
      });
    });
  }
  /** A place behind all that were given before. */
  place(): number {
    return this.#places++;
  }
  /** Asks for what has the first place. False: nothing is to be asked for. */
  askNext(): boolean {
    if (this.#asked.size === 0) return false;
    const place = Math.min(...this.#asked.keys());
    const ask = this.#asked.get(place)!;
    this.#asked.delete(place);
    ask();
    return true;
  }
  end(): void {
    this.#hasEnded = true;
    this.#asked.clear();
    const pauses = [...this.#pauses];
    // What is left of it is to be waited for.
    this.#pauses.clear();
    for (const end of pauses) end(ended());
  }

  async #pause<T>(wait: (resolve: (value: T) => void, reject: (reason: Error) => void) => void): Promise<T> {
    if (this.#hasEnded) throw ended();
    let end = (_reason: Error): void => undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        end = reject;
        this.#pauses.add(end);
        wait(resolve, reject);
      });
    } finally {
      this.#pauses.delete(end);
    }
  }
}

function ended(): Error {
  return new Error('the simulated process has ended');
}
