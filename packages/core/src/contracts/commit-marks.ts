import type { Lineage } from '../element/ids.js';
import type { CommitMark } from './sink.js';
import type { CheckpointRef } from './snapshot.js';

/** {@link SinkDestination.committed} of a place that is memory. */
export class CommitMarks {
  readonly #marks = new Map<Lineage, CommitMark>();

  get all(): readonly CommitMark[] {
    return [...this.#marks.values()];
  }

  /** All of them, from now on with that of `lineage`, which goes on from `from`. */
  of(lineage: Lineage, from: CheckpointRef | undefined): readonly CommitMark[] {
    this.add({ lineage, checkpointId: 0, from: from?.lineage === lineage ? undefined : from });
    return this.all;
  }

  /** A checkpoint of which something is about to be committed. The largest of its lineage stays, and the first origin that is given. */
  add({ lineage, checkpointId, from }: CommitMark): void {
    const known = this.#marks.get(lineage) ?? { lineage, checkpointId, from };
    const newest = Math.max(known.checkpointId, checkpointId);
    this.#marks.set(lineage, { lineage, checkpointId: newest, from: known.from ?? from });
  }
}
