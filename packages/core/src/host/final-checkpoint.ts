import type { CheckpointId } from '../element/ids.js';

/**
 * Final checkpoint of a subtask, for which it waits past its end before it leaves: one that was taken
 * behind the end, complete and with its output committed (Flink: StreamTask.afterInvoke, FLIP-147).
 * Any later one will do, if that one is given up.
 */
export class FinalCheckpoint {
  #first: CheckpointId | undefined;
  #isCommitted = false;

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  /** The subtask's part was taken behind its end. */
  captured(checkpointId: CheckpointId): void {
    this.#first ??= checkpointId;
  }

  /** The checkpoint is complete and what it covers is committed. */
  committed(checkpointId: CheckpointId): void {
    if (this.#first !== undefined && checkpointId >= this.#first) this.#isCommitted = true;
  }
}
