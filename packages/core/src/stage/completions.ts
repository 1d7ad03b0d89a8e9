import { allOf } from '../contracts/all-of.js';
import type { CheckpointId } from '../element/ids.js';

/** Tells a subtask of each completed checkpoint once, in order, and knows when what they cover is committed. */
export class Completions {
  readonly #tell: (checkpointId: CheckpointId) => Promise<void>;
  readonly #onFailed: (error: unknown) => void;
  #latest: CheckpointId = 0;
  #committed: Promise<void> = Promise.resolve();

  constructor(tell: (checkpointId: CheckpointId) => Promise<void>, onFailed: (error: unknown) => void) {
    this.#tell = tell;
    this.#onFailed = onFailed;
  }

  /** Settles when what the checkpoint covers is committed, also if it was heard of before, with the abort of another one. */
  reached(checkpointId: CheckpointId): Promise<void> {
    if (checkpointId > this.#latest) {
      this.#latest = checkpointId;
      this.#committed = allOf([this.#committed, this.#tell(checkpointId)]);
      this.#committed.catch(this.#onFailed);
    }
    return this.#committed;
  }

  /** Settles when nothing is under way; never rejects. */
  async idle(): Promise<void> {
    await this.#committed.catch(() => undefined);
  }
}
