import type { CheckpointId, CommittableIdentity } from '@weir/core/contracts';

/**
 * Which committables this process has emitted, for as long as they may come again. A restart from checkpoint n brings back what was not yet
 * confirmed when n was captured. So what was emitted before n was prepared can be forgotten once n has completed.
 */
export class EmittedCommittables {
  /** By identity: the first checkpoint that was prepared afterwards, if any. */
  readonly #preparedAfter = new Map<string, CheckpointId | undefined>();

  has(identity: CommittableIdentity): boolean {
    return this.#preparedAfter.has(nameOf(identity));
  }

  add(identity: CommittableIdentity): void {
    this.#preparedAfter.set(nameOf(identity), undefined);
  }

  prepared(checkpointId: CheckpointId): void {
    for (const [name, after] of this.#preparedAfter) {
      if (after === undefined) this.#preparedAfter.set(name, checkpointId);
    }
  }

  completed(checkpointId: CheckpointId): void {
    for (const [name, after] of this.#preparedAfter) {
      if (after !== undefined && after <= checkpointId) this.#preparedAfter.delete(name);
    }
  }

  clear(): void {
    this.#preparedAfter.clear();
  }
}

function nameOf({ sink, lineage, attempt, checkpointId, subtask, sequence }: CommittableIdentity): string {
  return JSON.stringify([sink, lineage, attempt, checkpointId, subtask, sequence]);
}
