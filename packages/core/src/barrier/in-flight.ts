import type { CheckpointId } from '../element/ids.js';
import type { RecordBatch } from '../element/element.js';

/** What a barrier has overtaken: part of its checkpoint, and to be processed again before anything else after a restore. */
export interface InFlight<T> {
  readonly checkpointId: CheckpointId;
  /** Per channel, in its order; empty for a channel that had nothing left before its barrier. */
  readonly channels: readonly (readonly RecordBatch<T>[])[];
}

/** Collects what the channels deliver between a snapshot and their own barriers, for one checkpoint at a time. */
export class InFlightBatches<T> {
  readonly #channels: number;
  readonly #bound: number;
  readonly #persisted = new Set<number>();
  #batches: RecordBatch<T>[][] = [];
  #records = 0;

  /** At most `bound` records of one checkpoint. */
  constructor(channels: number, bound: number) {
    this.#channels = channels;
    this.#bound = bound;
  }

  begin(channels: readonly number[]): void {
    this.discard();
    for (const channel of channels) this.#persisted.add(channel);
  }

  /** False if the batch would be more than the bound. */
  add(channel: number, batch: RecordBatch<T>): boolean {
    if (!this.#persisted.has(channel)) return true;
    this.#records += batch.records.length;
    if (this.#records > this.#bound) return false;
    this.#batches[channel]?.push(batch);
    return true;
  }

  end(channel: number): void {
    this.#persisted.delete(channel);
  }

  complete(checkpointId: CheckpointId): InFlight<T> {
    const channels = this.#batches;
    this.discard();
    return { checkpointId, channels };
  }

  /** The checkpoint is over. */
  discard(): void {
    this.#persisted.clear();
    this.#batches = Array.from({ length: this.#channels }, () => []);
    this.#records = 0;
  }
}
