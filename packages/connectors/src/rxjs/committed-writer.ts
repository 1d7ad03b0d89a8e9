import { WeirError, type CheckpointId, type SinkWriter, type SinkWriterContext } from '@weir/core/contracts';
import type { Backlog } from './backlog.js';

/**
 * Collects what each checkpoint is to cover: one committable per checkpoint, the records themselves, so that a later process can still emit them.
 * Once the backlog is full it waits for a commit, but takes what is in front of a barrier: held back for good, it would hold the barrier back too,
 * and the commit would never come.
 */
export class CommittedWriter<T> implements SinkWriter<T, readonly T[]> {
  readonly #backlog: Backlog;
  readonly #context: SinkWriterContext;
  readonly #onPrepared: (checkpointId: CheckpointId) => void;
  #records: T[] = [];

  constructor(backlog: Backlog, context: SinkWriterContext, onPrepared: (checkpointId: CheckpointId) => void) {
    this.#backlog = backlog;
    this.#context = context;
    this.#onPrepared = onPrepared;
  }

  write(batch: readonly T[]): Promise<void> | undefined {
    for (const record of batch) this.#records.push(record);
    this.#backlog.added(batch.length);
    if (!this.#backlog.isFull) return undefined;
    return this.#context.checkpointing ? this.#room() : this.#context.commitNow(this.#take());
  }

  prepareCommit(checkpointId: CheckpointId): readonly (readonly T[])[] {
    this.#onPrepared(checkpointId);
    return this.#take();
  }

  close(): void {
    this.#records = [];
  }

  #take(): readonly (readonly T[])[] {
    const records = this.#records;
    this.#records = [];
    return records.length === 0 ? [] : [records];
  }

  async #room(): Promise<void> {
    const context = this.#context;
    const { uid, job } = context;
    if (context.nextBarrier === undefined) {
      throw new WeirError(
        'BUFFER_OVERFLOW',
        `Sink ${uid} of job ${job} holds ${String(this.#backlog.size)} records that no checkpoint has covered, and the host cannot ask for one. ` +
          'Raise the capacity of committed above what arrives between two checkpoints, or take checkpoints more often.',
      );
    }
    const enough = new AbortController();
    let forget = (): void => undefined;
    try {
      const barrier = context.nextBarrier(enough.signal);
      await new Promise<void>((resolve, reject) => {
        forget = this.#backlog.onRoom(resolve);
        barrier.then(resolve, reject);
      });
    } finally {
      forget();
      enough.abort();
    }
  }
}
