import type { Channel } from '../channel/channel.js';
import type { Partitioning } from '../channel/partitioner.js';
import type { Barrier, EndOfData, IdleFlag, RecordBatch, StreamElement, Watermark } from '../element/element.js';
import type { CheckpointId, StageId } from '../element/ids.js';
import {
  alignment,
  isBlocked,
  snapshotsOnTimeout,
  step,
  type AlignmentInput,
  type AlignmentOptions,
  type AlignmentState,
} from '../barrier/alignment.js';
import { MergedTime } from '../barrier/merged-time.js';
import type { AlignmentAction, AlignmentMode } from '../barrier/modes.js';
import type { ChannelName } from '../snapshot/channel-state.js';
import { InFlightCapture } from './in-flight-capture.js';
import { part } from './part.js';

export interface InputChannel {
  readonly channel: Channel<unknown>;
  /** Which input of the stage's first operator it feeds. */
  readonly input: number;
  readonly name: ChannelName;
  readonly partitioning: Partitioning;
  /** Stage of the producer. */
  readonly from?: StageId | undefined;
}
/** What the gate tells its subtask. */
export interface GateListener {
  records(input: number, batch: RecordBatch<unknown>): void;
  /** To be carried out before the next element is taken. `inFlight` goes with a snapshot whose barrier has overtaken, and fills by and by. */
  alignment(action: AlignmentAction, inFlight: InFlightCapture | undefined): void;
  /** A barrier has entered a channel. */
  announced(barrier: Barrier): void;
  time(signal: Watermark | IdleFlag): void;
  /** Every channel is past end of data; barriers still come. */
  endOfData(end: Omit<EndOfData, 'kind'>): void;
}

/** All input channels of a subtask: takes elements in turn from those that are not blocked, and aligns barriers. */
export class InputGate {
  readonly #inputs: readonly InputChannel[];
  readonly #listener: GateListener;
  readonly #now: () => number;
  readonly #time: MergedTime;
  readonly #ended = new Set<number>();
  /** Channels with a barrier that has overtaken what waits in them, once for each. */
  readonly #overtaken: number[] = [];
  /** Has taken too long, and its snapshot was not taken yet. */
  #late: CheckpointId | undefined;
  #inFlight: InFlightCapture | undefined;
  readonly #closed = new Set<number>();
  #drain = true;
  #resumable = false;
  #alignment: AlignmentState;
  #turn = 0;
  #arrived: StreamElement<unknown> | undefined;
  /** The batch that is being read, and how far. */
  #current: { readonly index: number; readonly batch: RecordBatch<unknown>; from: number } | undefined;

  constructor(
    inputs: readonly InputChannel[],
    mode: AlignmentMode,
    now: () => number,
    listener: GateListener,
    onArrival: () => void,
    options: AlignmentOptions = {},
  ) {
    this.#inputs = inputs;
    this.#listener = listener;
    this.#now = now;
    this.#time = new MergedTime(inputs.length);
    this.#alignment = alignment(mode, inputs.length, options);
    for (const [index, { channel }] of inputs.entries()) {
      // Only kept here: what throws in an RxJS subscriber would become an uncaught exception.
      channel.subscribe((element) => {
        this.#arrived = element;
      });
      channel.onArrival = onArrival;
      channel.onBarrier = (barrier) => {
        listener.announced(barrier);
        this.#step({ kind: 'announced', checkpointId: barrier.checkpointId });
      };
      channel.onOvertaking = () => {
        this.#overtaken.push(index);
        onArrival();
      };
    }
  }

  /** Every producer has finished, and all that they sent was taken. */
  get isEnded(): boolean {
    return this.#closed.size === this.#inputs.length && this.#current === undefined;
  }

  /** Nothing will be taken any more. */
  abandon(): void {
    for (const { channel } of this.#inputs) channel.abandon();
  }

  /** Moves one element, or up to `max` records of one. False: there is nothing to take now. */
  advance(max: number): boolean {
    if (this.#current === undefined && !this.#requestNext()) return false;
    const current = this.#current;
    if (current === undefined) return true;
    const { index, batch, from } = current;
    const to = from + max;
    if (to >= batch.records.length) this.#current = undefined;
    else current.from = to;
    const { input } = this.#inputs[index] as InputChannel;
    this.#listener.records(input, part(batch, from, to));
    return true;
  }

  /** Moves one control element that no record is in front of: those never wait for demand. */
  advanceControl(): boolean {
    return this.#current === undefined && this.#requestNext((channel) => channel.nextKind !== 'batch');
  }

  /** A barrier is there that waits for nothing, or a checkpoint that is late is to have its snapshot. */
  get isOvertaken(): boolean {
    return this.#overtaken.length > 0 || this.#isLate;
  }

  get #isLate(): boolean {
    return this.#late !== undefined && snapshotsOnTimeout(this.#alignment, this.#late);
  }

  /** Takes the snapshot of a checkpoint that is late, or one barrier that has overtaken, also in the middle of a batch. */
  advanceOvertaking(): void {
    if (this.#late !== undefined && this.#isLate) {
      this.#step({ kind: 'timeout', checkpointId: this.#late });
      return;
    }
    const index = this.#overtaken.shift();
    if (index === undefined) return;
    const taken = this.#inputs[index]?.channel.takeOvertaking();
    if (taken === undefined) return;
    this.#step({ kind: 'barrier', channel: index, barrier: taken.barrier }, taken.overtaken);
  }

  /**
   * The checkpoint has taken too long: its barriers overtake from now on, those that wait in channels as well. A snapshot that follows from it waits
   * for `advanceOvertaking`: the stage may be in the middle of something.
   */
  timeout(checkpointId: CheckpointId): void {
    this.#late = checkpointId;
    if (!this.#isLate) this.#step({ kind: 'timeout', checkpointId });
  }

  /** The coordinator gave a checkpoint up. */
  abort(checkpointId: CheckpointId): void {
    this.#step({ kind: 'abort', checkpointId });
  }

  /** Nothing waits to be taken, and only what comes from `loop` may still bring something. */
  isQuiet(loop: ReadonlySet<StageId>): boolean {
    if (this.#current !== undefined) return false;
    return this.#inputs.every(
      ({ channel, from }, index) =>
        channel.isEmpty && (this.#ended.has(index) || (from !== undefined && loop.has(from))),
    );
  }

  #requestNext(mayTake?: (channel: Channel<unknown>) => boolean): boolean {
    const count = this.#inputs.length;
    for (let i = 0; i < count; i++) {
      const index = this.#turn;
      this.#turn = index + 1 === count ? 0 : index + 1;
      const { channel } = this.#inputs[index] as InputChannel;
      if (channel.isEmpty || isBlocked(this.#alignment, index) || mayTake?.(channel) === false) continue;
      channel.request();
      this.#take(index, this.#arrived as StreamElement<unknown>);
      return true;
    }
    return false;
  }

  #take(index: number, element: StreamElement<unknown>): void {
    switch (element.kind) {
      case 'batch':
        this.#inFlight?.add(index, element);
        if (element.records.length > 0) this.#current = { index, batch: element, from: 0 };
        return;
      case 'barrier':
        this.#step({ kind: 'barrier', channel: index, barrier: element });
        return;
      case 'cancel':
        this.#step({ kind: 'cancel', channel: index, checkpointId: element.checkpointId });
        return;
      case 'end-of-channel':
        this.#closed.add(index);
        this.#step({ kind: 'end-of-channel', channel: index });
        return;
      case 'end-of-data':
        this.#ended.add(index);
        this.#drain &&= element.drain;
        this.#resumable ||= element.resumable === true;
        for (const signal of this.#time.remove(index)) this.#listener.time(signal);
        if (this.#ended.size === this.#inputs.length)
          this.#listener.endOfData({ drain: this.#drain, resumable: this.#resumable });
        return;
      case 'watermark':
      case 'idle':
        for (const signal of this.#time.signal(index, element)) this.#listener.time(signal);
    }
  }

  /** `overtaken`: what waits in the channel of a barrier that has overtaken it. */
  #step(input: AlignmentInput, overtaken: readonly RecordBatch<unknown>[] = []): void {
    const [next, actions] = step(this.#alignment, input, this.#now());
    this.#alignment = next;
    for (const action of actions) {
      this.#carryOut(action, overtaken);
      this.#listener.alignment(action, this.#inFlight);
      if (action.kind === 'inputs-complete') this.#inFlight = undefined;
    }
  }

  #carryOut(action: AlignmentAction, overtaken: readonly RecordBatch<unknown>[]): void {
    switch (action.kind) {
      case 'let-overtake':
        for (const { channel } of this.#inputs) channel.letOvertake(action.checkpointId);
        return;
      case 'persist': {
        this.#inFlight = new InFlightCapture(action.channels, this.#inputs);
        // The unread rest of a batch was taken already, and is not in the snapshot.
        if (this.#current !== undefined)
          this.#inFlight.add(this.#current.index, this.#current.batch, this.#current.from);
        return;
      }
      case 'persisted':
        for (const batch of overtaken) this.#inFlight?.add(action.channel, batch);
        this.#inFlight?.end(action.channel);
        return;
      case 'inputs-complete':
        this.#inFlight?.complete();
        return;
      case 'abort':
        this.#inFlight?.discard();
        this.#inFlight = undefined;
        return;
      case 'block':
      case 'unblock-all':
      case 'snapshot':
        return;
    }
  }
}
