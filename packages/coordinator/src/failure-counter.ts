import type { AbortReason, CheckpointId } from '@weir/core/contracts';
import { ABORTS } from './abort.js';

/** `exceeded`: one more than tolerable in a row; the attempt has to fail. */
export type FailureVerdict = 'ignored' | 'tolerated' | 'exceeded';

/** Counts consecutive failed checkpoints of a job, over attempts (Flink: CheckpointFailureManager). */
export class FailureCounter {
  readonly #tolerable: number;
  #consecutive = 0;
  #countedIds = new Set<CheckpointId>();
  #lastSucceeded: CheckpointId = 0;

  /** Infinity tolerates everything and counts nothing. */
  constructor(tolerable: number) {
    this.#tolerable = tolerable;
  }

  /** A failure counts once per checkpoint; one without an id counts every time. Starts again at 0 when exceeded. */
  failed(reason: AbortReason, checkpointId: CheckpointId | undefined): FailureVerdict {
    if (!ABORTS[reason].counts || this.#tolerable === Infinity) return 'ignored';
    if (checkpointId !== undefined) {
      if (checkpointId <= this.#lastSucceeded || this.#countedIds.has(checkpointId)) return 'ignored';
      this.#countedIds.add(checkpointId);
    }
    this.#consecutive++;
    if (this.#consecutive <= this.#tolerable) return 'tolerated';
    this.#clear();
    return 'exceeded';
  }

  /** Only a checkpoint newer than the last that succeeded ends a row of failures. */
  succeeded(checkpointId: CheckpointId): void {
    if (checkpointId <= this.#lastSucceeded) return;
    this.#lastSucceeded = checkpointId;
    this.#clear();
  }

  #clear(): void {
    this.#consecutive = 0;
    this.#countedIds.clear();
  }
}
