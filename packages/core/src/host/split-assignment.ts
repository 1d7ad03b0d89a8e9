import type { SourceSplit, SplitEnumerator } from '../contracts/source.js';
import type { CheckpointId } from '../element/ids.js';
import type { SplitClient } from '../operator/source-operator.js';

/**
 * Stands between a split enumerator and the subtasks of its source. While a checkpoint is on its way from the enumerator's snapshot into the
 * readers, nothing is assigned: a split must not be in both parts, or in neither (Flink: OperatorEventValve).
 */
export class SplitAssignment {
  readonly #enumerator: SplitEnumerator;
  readonly #waiting = new Set<SplitClient>();
  readonly #held = new Set<CheckpointId>();

  constructor(enumerator: SplitEnumerator) {
    this.#enumerator = enumerator;
    enumerator.onAvailable = () => {
      this.#offer();
    };
  }

  client(subtask: number): SplitClient {
    const client: SplitClient = {
      onAvailable: undefined,
      request: (): SourceSplit | 'end' | undefined => {
        // Waiting from before the question: an enumerator may call `onAvailable` while it is asked.
        this.#waiting.add(client);
        const split = this.#held.size > 0 ? undefined : this.#enumerator.assign(subtask);
        if (split !== undefined) this.#waiting.delete(client);
        return split;
      },
      finished: (splitId) => {
        this.#enumerator.finished(splitId);
      },
    };
    return client;
  }

  hold(checkpointId: CheckpointId): void {
    this.#held.add(checkpointId);
  }
  release(checkpointId: CheckpointId): void {
    if (this.#held.delete(checkpointId) && this.#held.size === 0) this.#offer();
  }

  #offer(): void {
    const clients = [...this.#waiting];
    this.#waiting.clear();
    for (const client of clients) client.onAvailable?.();
  }
}
