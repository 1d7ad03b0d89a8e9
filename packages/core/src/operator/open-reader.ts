import type { SourceReader, SourceSplit } from '../contracts/source.js';
import type { CheckpointId } from '../element/ids.js';

interface Covered {
  readonly checkpointId: CheckpointId;
  readonly position: unknown;
  readonly isAtEnd: boolean;
}

/** The reader of a split: how far it has read, and how far the checkpoints that are not over cover that. */
export class OpenReader {
  readonly split: SourceSplit;
  readonly reader: SourceReader<unknown>;
  /** After the last record that was emitted, and what a poll passed over behind it: what the next checkpoint stores. */
  position: unknown;
  isAtEnd = false;
  #covered: readonly Covered[] = [];

  constructor(split: SourceSplit, reader: SourceReader<unknown>, position: unknown) {
    this.split = split;
    this.reader = reader;
    this.position = position;
  }

  captured(checkpointId: CheckpointId): void {
    const { position, isAtEnd } = this;
    // Nobody will ask for it: a reader that is told nothing, and is not kept to the end.
    if (this.reader.completed === undefined && !isAtEnd) return;
    this.#covered = [...this.#covered, { checkpointId, position, isAtEnd }];
  }

  aborted(checkpointId: CheckpointId): void {
    this.#covered = this.#covered.filter((covered) => covered.checkpointId !== checkpointId);
  }

  /** Tells the reader how far the checkpoint covers it. True: it covers the last record of the split. */
  async acknowledge(checkpointId: CheckpointId): Promise<boolean> {
    const covered = this.#covered.findLast((captured) => captured.checkpointId <= checkpointId);
    if (covered === undefined) return false;
    this.#covered = this.#covered.filter((captured) => captured.checkpointId > checkpointId);
    // There is nothing to tell of a reader that has no positions.
    if (covered.position !== undefined) await this.reader.completed?.(checkpointId, covered.position);
    return covered.isAtEnd;
  }
}
