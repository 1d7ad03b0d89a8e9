import type { SourceContext, SourceSplit, SplitEnumerator } from '../contracts/source.js';
import type { CheckpointId } from '../element/ids.js';
import { checkedSplit } from '../operator/source-answers.js';
import { sourceViolation } from '../operator/source-context.js';
import type { SplitClient } from '../operator/split-client.js';

/**
 * Stands between a split enumerator and the subtasks of its source. While a checkpoint is on its way from the enumerator's snapshot into the
 * readers, nothing is assigned: a split must not be in both parts, or in neither (Flink: OperatorEventValve).
 */
export class SplitAssignment {
  readonly #context: SourceContext;
  readonly #enumerator: SplitEnumerator;
  /** Ids of splits that are given and not finished. */
  readonly #given = new Set<string>();
  readonly #waiting = new Set<SplitClient>();
  readonly #held = new Set<CheckpointId>();

  constructor(context: SourceContext, enumerator: SplitEnumerator) {
    this.#context = context;
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
        const split = this.#held.size > 0 ? undefined : this.#assign(subtask);
        if (split !== undefined) this.#waiting.delete(client);
        return split;
      },
      restored: (splitId) => {
        this.#given.add(splitId);
      },
      finished: (splitId) => {
        this.#given.delete(splitId);
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

  #assign(subtask: number): SourceSplit | 'end' | undefined {
    const split = checkedSplit(this.#context, this.#enumerator.assign(subtask));
    if (typeof split !== 'object') return split;
    if (this.#given.has(split.id))
      throw sourceViolation(
        this.#context,
        split,
        'its enumerator gave out the split again while it is being read, which would repeat its records',
      );
    this.#given.add(split.id);
    return split;
  }

  #offer(): void {
    const clients = [...this.#waiting];
    this.#waiting.clear();
    for (const client of clients) client.onAvailable?.();
  }
}
