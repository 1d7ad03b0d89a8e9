import { CHANNEL_CAPACITY, type Channel } from '../channel/channel.js';
import type { Partitioning } from '../channel/partitioner.js';
import type { Serializer } from '../contracts/serializer.js';
import type { TemporaryFiles } from '../contracts/temporary-files.js';
import type { RecordBatch, StreamElement } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { WeirError } from '../errors.js';
import type { ChannelName } from '../snapshot/channel-state.js';
import type { FeedbackBounds } from '../graph/stream-node.js';
import { FeedbackQueue } from './feedback-queue.js';
import { FeedbackSpill } from './feedback-spill.js';
import { LoopLogs, type ClosedLog } from './loop-logs.js';
import { part } from './part.js';

/** Feedback goes first, but not for ever: after that many chunks in a row the input has a turn, if it may. */
const CHUNKS_IN_A_ROW = 8;
/** Where records come from that go round since before a restore: a channel of their own, in front of the others. */
const REPLAY = -1;

export interface FeedbackChannel {
  readonly channel: Channel<unknown>;
  readonly name: ChannelName;
  readonly partitioning: Partitioning;
}
export interface LoopHeadOptions<Captured> {
  readonly feedback: readonly FeedbackChannel[];
  readonly serializer: Serializer;
  /** False: what goes round is in no checkpoint, and lost by a restore. */
  readonly logged: boolean;
  readonly onArrival: () => void;
  readonly onFailed: (error: unknown) => void;
  readonly bounds: FeedbackBounds;
  readonly temporaryFiles: TemporaryFiles;
  readonly records: (batch: RecordBatch<unknown>) => void;
  /** A checkpoint needs nothing more from here: its barrier has come back over every feedback channel. */
  readonly closed: (log: ClosedLog<Captured>) => void;
  /** The checkpoint was given up inside of the loop. */
  readonly discarded: (captured: Captured) => void;
  /** Checkpoints whose barriers have left the sources and that are not over. */
  readonly underWay: () => Iterable<CheckpointId>;
}

/**
 * The feedback edges of one subtask of a loop's head. They take part in no alignment and are never blocked; what they carry is taken before the
 * regular input, so that a loop drains before it is filled.
 */
export class LoopHead<Captured> {
  readonly #options: LoopHeadOptions<Captured>;
  readonly #queues: readonly FeedbackQueue[];
  readonly #logs: LoopLogs<Captured>;
  readonly #spill: FeedbackSpill;
  #replay: RecordBatch<unknown>[] = [];
  #current: { readonly channel: number; readonly batch: RecordBatch<unknown>; from: number } | undefined;
  #turn = 0;
  #inARow = 0;
  /** The newest checkpoint that the head has a snapshot of. */
  #newest: CheckpointId = 0;
  /** What comes after the end: nothing may, or it does not matter any more. */
  #ended: 'no' | 'drain' | 'suspend' = 'no';

  constructor(options: LoopHeadOptions<Captured>) {
    this.#options = options;
    const { serializer, bounds, temporaryFiles: files, onArrival, onFailed } = options;
    const loop = options.feedback[0]?.name.edge.consumer ?? '';
    this.#spill = new FeedbackSpill({ loop, files, maxBytes: bounds.bytes, onFailed, onProgress: onArrival });
    const room = { serializer, maxRecords: bounds.records, spill: this.#spill, onArrival, onFailed, inMemory: 0 };
    this.#queues = options.feedback.map(({ channel, name }) => new FeedbackQueue(channel, name, room));
    this.#logs = new LoopLogs(
      options.feedback.map(({ name }) => name),
      serializer,
    );
  }

  /** Nothing waits here. */
  get isEmpty(): boolean {
    return this.#current === undefined && !this.isReplaying && this.#queues.every(({ isEmpty }) => isEmpty);
  }
  /** The disk is behind: nothing more should go into the loop. */
  get isOverBudget(): boolean {
    return this.#spill.isOverBudget;
  }
  /** What comes next is on disk. */
  get isFetching(): boolean {
    return this.#queues.some(({ isLoading }) => isLoading);
  }
  /** Records of the restored checkpoint come before anything else. */
  get isReplaying(): boolean {
    return this.#replay.length > 0 || this.#current?.channel === REPLAY;
  }
  /**
   * The input may go first now. Never while much waits here, or a loop that multiplies records would be filled without end; except that a barrier
   * must get through even if the loop never drains.
   */
  get letsInputGo(): boolean {
    if (this.#inARow < CHUNKS_IN_A_ROW) return false;
    const waiting = this.#queues.reduce((sum, { records }) => sum + records, 0);
    return waiting < CHANNEL_CAPACITY || [...this.#options.underWay()].some((id) => id > this.#newest);
  }
  inputWent(): void {
    this.#inARow = 0;
  }

  /** Before the subtask starts. */
  restore(batches: readonly RecordBatch<unknown>[]): void {
    this.#replay.push(...batches);
  }

  /** Moves one element, or up to `max` records of one. False: there is nothing to take now. */
  advance(max: number): boolean {
    if (this.#current === undefined && !this.#takeNext()) {
      if (!this.isFetching) this.#inARow = 0;
      return false;
    }
    this.#inARow++;
    const current = this.#current;
    if (current === undefined) return true;
    const { batch, from } = current;
    const to = from + max;
    if (to >= batch.records.length) this.#current = undefined;
    else current.from = to;
    this.#options.records(part(batch, from, to));
    return true;
  }

  /** Moves one control element that no record is in front of: those never wait for demand. */
  advanceControl(): boolean {
    return this.#current === undefined && !this.isReplaying && this.#takeFrom(({ kind }) => kind !== 'batch');
  }

  /**
   * The head stands behind the barrier of a savepoint to stop with, and nothing moves; but what comes back belongs to that savepoint. It is logged,
   * and waits in case the job goes on after all. False: there is nothing to log now.
   */
  advanceStanding(): boolean {
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) this.#replay.push(part(current.batch, current.from, Number.POSITIVE_INFINITY));
    if (!this.#takeFrom(() => true)) return false;
    const taken = this.#current as typeof current;
    this.#current = undefined;
    if (taken !== undefined) this.#replay.push(taken.batch);
    return true;
  }

  /** The head has taken its snapshot and the barrier has gone into the loop: what comes back from now on belongs to the checkpoint. */
  snapshotTaken(checkpointId: CheckpointId, captured: Captured): void {
    this.#newest = checkpointId;
    if (!this.#options.logged) {
      this.#options.closed({ checkpointId, captured, state: [] });
      return;
    }
    this.#logs.begin(checkpointId, captured, this.#unread());
  }

  /** The checkpoint will not complete. */
  aborted(checkpointId: CheckpointId): void {
    const captured = this.#logs.discard(checkpointId);
    if (captured !== undefined) this.#options.discarded(captured);
  }

  /** The end of data goes into the loop. `drain`: nothing goes round. Otherwise a snapshot has what does, and here it is dropped. */
  end(how: 'drain' | 'suspend'): void {
    this.#ended = how;
  }

  /** Gives up every checkpoint that waits for its barrier, and deletes what is on disk. */
  async close(): Promise<void> {
    for (const captured of this.#logs.discardAll()) this.#options.discarded(captured);
    await this.#spill.close();
  }

  /** What has left the channels and has not been worked on. What was replayed so far is of whatever channel; it comes first again. */
  #unread(): readonly { readonly channel: number; readonly batch: RecordBatch<unknown> }[] {
    const current = this.#current;
    const rest = current && {
      channel: Math.max(0, current.channel),
      batch: part(current.batch, current.from, Number.POSITIVE_INFINITY),
    };
    return [...(rest === undefined ? [] : [rest]), ...this.#replay.map((batch) => ({ channel: 0, batch }))];
  }

  #takeNext(): boolean {
    const batch = this.#replay.shift();
    if (batch === undefined) return this.#takeFrom(() => true);
    this.#current = { channel: REPLAY, batch, from: 0 };
    return true;
  }

  #takeFrom(mayTake: (element: StreamElement<unknown>) => boolean): boolean {
    const count = this.#queues.length;
    for (let i = 0; i < count; i++) {
      const channel = this.#turn;
      this.#turn = channel + 1 === count ? 0 : channel + 1;
      const queue = this.#queues[channel] as FeedbackQueue;
      const { next } = queue;
      if (next === undefined || this.#isAhead(next) || !mayTake(next)) continue;
      queue.take();
      this.#take(channel, next);
      return true;
    }
    return false;
  }

  /**
   * A barrier that was overtaking may come back before this head's own has come. What is behind it is of the time after the checkpoint, and must
   * not get into the loop before the head has taken its snapshot.
   */
  #isAhead(element: StreamElement<unknown>): boolean {
    if (element.kind !== 'barrier' || element.checkpointId <= this.#newest) return false;
    return [...this.#options.underWay()].includes(element.checkpointId);
  }

  #take(channel: number, element: StreamElement<unknown>): void {
    switch (element.kind) {
      case 'batch':
        if (this.#ended === 'drain') throw this.#afterEnd(element);
        if (this.#ended === 'suspend') return;
        this.#logs.record(channel, element);
        this.#current = { channel, batch: element, from: 0 };
        return;
      case 'barrier': {
        const closed = this.#logs.returned(channel, element.checkpointId);
        if (closed !== undefined) this.#options.closed(closed);
        return;
      }
      case 'cancel':
        this.aborted(element.checkpointId);
        return;
      case 'watermark':
      case 'idle':
      case 'end-of-data':
      case 'end-of-channel':
        // Time and end come to the head over its input alone.
        return;
    }
  }

  #afterEnd({ records }: RecordBatch<unknown>): WeirError {
    const { edge } = (this.#options.feedback[0] as FeedbackChannel).name;
    return new WeirError(
      'FEEDBACK_AFTER_END',
      `${String(records.length)} records came back to loop ${edge.consumer} after it had ended: an operator in its body emits into the feedback when it finishes, ` +
        'and nobody is left to take it. Emit such records into the output of the loop.',
      { recoverable: false },
    );
  }
}
