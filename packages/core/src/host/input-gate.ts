import type { Channel } from '../channel/channel.js';
import type { IdleFlag, RecordBatch, StreamElement, Watermark } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { alignment, isBlocked, step, type AlignmentInput, type AlignmentState } from '../barrier/alignment.js';
import { MergedTime } from '../barrier/merged-time.js';
import type { AlignmentAction, AlignmentMode } from '../barrier/modes.js';

export interface InputChannel {
  readonly channel: Channel<unknown>;
  /** Which input of the stage's first operator it feeds. */
  readonly input: number;
}
/** What the gate tells its subtask. */
export interface GateListener {
  records(input: number, batch: RecordBatch<unknown>): void;
  /** To be carried out before the next element is taken. */
  alignment(action: AlignmentAction): void;
  time(signal: Watermark | IdleFlag): void;
  /** Every channel is past end of data; barriers still come. */
  endOfData(drain: boolean): void;
}

/** All input channels of a subtask: takes elements in turn from those that are not blocked, and aligns barriers. */
export class InputGate {
  readonly #inputs: readonly InputChannel[];
  readonly #listener: GateListener;
  readonly #now: () => number;
  readonly #time: MergedTime;
  readonly #ended = new Set<number>();
  #drain = true;
  #alignment: AlignmentState;
  #turn = 0;
  #arrived: StreamElement<unknown> | undefined;
  /** The batch that is being read, and how far. */
  #current: { readonly input: number; readonly batch: RecordBatch<unknown>; from: number } | undefined;

  constructor(
    inputs: readonly InputChannel[],
    mode: AlignmentMode,
    now: () => number,
    listener: GateListener,
    onArrival: () => void,
  ) {
    this.#inputs = inputs;
    this.#listener = listener;
    this.#now = now;
    this.#time = new MergedTime(inputs.length);
    this.#alignment = alignment(mode, inputs.length);
    for (const { channel } of inputs) {
      // Only kept here: what throws in an RxJS subscriber would become an uncaught exception.
      channel.subscribe((element) => {
        this.#arrived = element;
      });
      channel.onArrival = onArrival;
    }
  }

  /** Moves one element, or up to `max` records of one. False: there is nothing to take now. */
  advance(max: number): boolean {
    if (this.#current === undefined && !this.#requestNext()) return false;
    const current = this.#current;
    if (current === undefined) return true;
    const { input, batch, from } = current;
    const to = from + max;
    if (to >= batch.records.length) this.#current = undefined;
    else current.from = to;
    this.#listener.records(input, from === 0 && to >= batch.records.length ? batch : part(batch, from, to));
    return true;
  }

  /** Moves one control element that no record is in front of: those never wait for demand. */
  advanceControl(): boolean {
    return this.#current === undefined && this.#requestNext((channel) => channel.nextKind !== 'batch');
  }

  /** The coordinator gave a checkpoint up. */
  abort(checkpointId: CheckpointId): void {
    this.#step({ kind: 'abort', checkpointId });
  }

  #requestNext(mayTake?: (channel: Channel<unknown>) => boolean): boolean {
    const count = this.#inputs.length;
    for (let i = 0; i < count; i++) {
      const index = this.#turn;
      this.#turn = index + 1 === count ? 0 : index + 1;
      const { channel, input } = this.#inputs[index] as InputChannel;
      if (channel.isEmpty || isBlocked(this.#alignment, index) || mayTake?.(channel) === false) continue;
      channel.request();
      this.#take(index, input, this.#arrived as StreamElement<unknown>);
      return true;
    }
    return false;
  }

  #take(index: number, input: number, element: StreamElement<unknown>): void {
    switch (element.kind) {
      case 'batch':
        if (element.records.length > 0) this.#current = { input, batch: element, from: 0 };
        return;
      case 'barrier':
        this.#step({ kind: 'barrier', channel: index, barrier: element });
        return;
      case 'cancel':
        this.#step({ kind: 'cancel', channel: index, checkpointId: element.checkpointId });
        return;
      case 'end-of-channel':
        this.#step({ kind: 'end-of-channel', channel: index });
        return;
      case 'end-of-data':
        this.#ended.add(index);
        this.#drain &&= element.drain;
        for (const signal of this.#time.remove(index)) this.#listener.time(signal);
        if (this.#ended.size === this.#inputs.length) this.#listener.endOfData(this.#drain);
        return;
      case 'watermark':
      case 'idle':
        for (const signal of this.#time.signal(index, element)) this.#listener.time(signal);
    }
  }

  #step(input: AlignmentInput): void {
    const [next, actions] = step(this.#alignment, input, this.#now());
    this.#alignment = next;
    for (const action of actions) this.#listener.alignment(action);
  }
}

function part({ records, timestamps }: RecordBatch<unknown>, from: number, to: number): RecordBatch<unknown> {
  return timestamps === undefined
    ? { kind: 'batch', records: records.slice(from, to) }
    : { kind: 'batch', records: records.slice(from, to), timestamps: timestamps.slice(from, to) };
}
