import { nextTurn, sleep, type Clock } from '../contracts/clock.js';
import type { CheckpointId } from '../element/ids.js';

/** After a request that came to nothing. */
const RETRY_MS = 100;

export interface BarrierWaitsOptions {
  readonly clock: Clock;
  /** Aborts with the attempt. */
  readonly signal: AbortSignal;
  /** Checkpoints whose barriers have left the sources and that are not over. */
  readonly underWay: () => Iterable<CheckpointId>;
  /** Asks for a checkpoint; settles when it is over. */
  readonly request: () => Promise<unknown>;
}

/**
 * Where a writer that is full waits for a barrier. A stage passes no barrier while it waits for a write, so the writer must go on taking records
 * as soon as a barrier is behind them; before that it may hold them back for as long as it likes. While somebody waits and no checkpoint is under
 * way, one is asked for, so that no writer depends on the interval.
 */
export class BarrierWaits {
  readonly #options: BarrierWaitsOptions;
  readonly #waiting = new Set<() => void>();
  #asking = false;

  constructor(options: BarrierWaitsOptions) {
    this.#options = options;
  }

  next(passed: CheckpointId, until: AbortSignal): Promise<void> {
    const { signal, underWay } = this.#options;
    if (until.aborted || [...underWay()].some((checkpointId) => checkpointId > passed)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(arrive);
        until.removeEventListener('abort', arrive);
        signal.removeEventListener('abort', onEnd);
      };
      const arrive = (): void => {
        leave();
        resolve();
      };
      const onEnd = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      if (signal.aborted) {
        onEnd();
        return;
      }
      this.#waiting.add(arrive);
      until.addEventListener('abort', arrive, { once: true });
      signal.addEventListener('abort', onEnd, { once: true });
      void this.#ask();
    });
  }

  /** Barriers have left the sources. */
  triggered(): void {
    for (const arrive of [...this.#waiting]) arrive();
  }

  /** A checkpoint is over, and what it covers is committed if it completed. */
  ended(): void {
    // Nothing is left behind by a job that ends with this checkpoint.
    if (this.#waiting.size > 0) void this.#ask();
  }

  async #ask(): Promise<void> {
    const { clock, signal, underWay, request } = this.#options;
    if (this.#asking) return;
    this.#asking = true;
    // A turn later, because whoever was waiting for a commit may not need the barrier any more.
    await nextTurn(clock);
    while (this.#waiting.size > 0 && !signal.aborted && [...underWay()].length === 0) {
      try {
        await request();
      } catch {
        // The reason is in the events of the job; the need for a checkpoint has not gone away.
        await sleep(clock, RETRY_MS, signal).catch(() => undefined);
      }
      await nextTurn(clock);
    }
    this.#asking = false;
  }
}
