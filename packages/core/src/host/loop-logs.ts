import type { Serializer } from '../contracts/serializer.js';
import type { RecordBatch } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { ChannelStateEncoder, type ChannelName, type EncodedChannelState } from '../snapshot/channel-state.js';

interface OpenLog<Captured> {
  readonly checkpointId: CheckpointId;
  readonly captured: Captured;
  /** Of every feedback channel. */
  readonly logs: readonly ChannelStateEncoder[];
  /** Channels that have not brought the barrier back. */
  readonly missing: Set<number>;
}

/** A checkpoint whose barrier has come back over every feedback channel. */
export interface ClosedLog<Captured> {
  readonly checkpointId: CheckpointId;
  readonly captured: Captured;
  /** Channels that carried nothing are left out. */
  readonly state: readonly EncodedChannelState[];
}

/**
 * The backup logs of a loop's head ("Lightweight Asynchronous Snapshots for Distributed Dataflows", algorithm 2): for each pending checkpoint what
 * each feedback channel carried between the head's snapshot and the return of the barrier. Those records are in no other snapshot, since the
 * barrier has passed everything else on its way round.
 */
export class LoopLogs<Captured> {
  readonly #names: readonly ChannelName[];
  readonly #serializer: Serializer;
  #open: OpenLog<Captured>[] = [];

  constructor(names: readonly ChannelName[], serializer: Serializer) {
    this.#names = names;
    this.#serializer = serializer;
  }

  /**
   * The head has taken its snapshot; `captured` is kept until the log is closed. `unread`: what it has taken from a channel, or from the log that
   * it restored, and not worked on yet.
   */
  begin(
    checkpointId: CheckpointId,
    captured: Captured,
    unread: readonly { readonly channel: number; readonly batch: RecordBatch<unknown> }[] = [],
  ): void {
    const logs = this.#names.map((name) => new ChannelStateEncoder(name, this.#serializer, { kind: 'loop' }));
    this.#open.push({ checkpointId, captured, logs, missing: new Set(logs.keys()) });
    for (const { channel, batch } of unread) logs[channel]?.add(batch);
  }

  /** A batch leaves the channel. Encodes it; call it before anybody else gets the records. */
  record(channel: number, batch: RecordBatch<unknown>): void {
    for (const { logs, missing } of this.#open) if (missing.has(channel)) logs[channel]?.add(batch);
  }

  /** The barrier came back over `channel`. Gives the log if that was the last one. */
  returned(channel: number, checkpointId: CheckpointId): ClosedLog<Captured> | undefined {
    const open = this.#open.find((log) => log.checkpointId === checkpointId);
    if (open?.missing.delete(channel) !== true || open.missing.size > 0) return undefined;
    this.#open = this.#open.filter((log) => log !== open);
    return { checkpointId, captured: open.captured, state: open.logs.flatMap((log) => log.finish() ?? []) };
  }

  /** The checkpoint will not complete. Gives back what was captured for it. */
  discard(checkpointId: CheckpointId): Captured | undefined {
    const open = this.#open.find((log) => log.checkpointId === checkpointId);
    this.#open = this.#open.filter((log) => log !== open);
    return open?.captured;
  }

  /** Everything that was captured for checkpoints that are still pending. */
  discardAll(): readonly Captured[] {
    return this.#open.splice(0).map(({ captured }) => captured);
  }
}
