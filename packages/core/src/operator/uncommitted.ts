import type { Committable, CommittableIdentity } from '../contracts/snapshot.js';
import type { CheckpointId } from '../element/ids.js';

/** What all committables of one sink subtask in one attempt have in common. */
export type CommittableOrigin = Omit<CommittableIdentity, 'checkpointId' | 'sequence'>;

/** The committables of a sink subtask that are not confirmed committed: they are in every checkpoint until then. */
export class Uncommitted {
  readonly #origin: CommittableOrigin;
  #all: readonly Committable[] = [];
  #sequence = 0;

  constructor(origin: CommittableOrigin) {
    this.#origin = origin;
  }

  get all(): readonly Committable[] {
    return this.#all;
  }

  /** Gives payloads the identity that they keep for ever. */
  identify(payloads: readonly unknown[], checkpointId: CheckpointId): readonly Committable[] {
    const { job, lineage, sink, attempt, subtask } = this.#origin;
    return payloads.map((payload) => ({
      // In the order in which a checkpoint gives them back: a sink may take the text of the whole for a key.
      identity: { job, lineage, sink, attempt, checkpointId, subtask, sequence: this.#sequence++ },
      payload,
    }));
  }

  add(committables: readonly Committable[]): void {
    this.#all = [...this.#all, ...committables];
  }

  /** Those of this checkpoint and all before. */
  upTo(checkpointId: CheckpointId): readonly Committable[] {
    return this.#all.filter(({ identity }) => identity.checkpointId <= checkpointId);
  }

  confirm(committed: readonly Committable[]): void {
    const confirmed = new Set(committed);
    this.#all = this.#all.filter((committable) => !confirmed.has(committable));
  }
}
