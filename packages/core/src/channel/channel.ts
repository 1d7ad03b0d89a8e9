import { BehaviorSubject, Observable, type Subscriber } from 'rxjs';
import type { Barrier, RecordBatch, StreamElement } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { forwarded, isTimeoutable } from '../element/overtaking.js';
import { WeirError } from '../errors.js';

/** Records that a channel buffers before it withdraws demand. */
export const CHANNEL_CAPACITY = 2048;

/** A barrier that has overtaken what waits in a channel. */
export interface OvertakingBarrier<T> {
  readonly barrier: Barrier;
  /** What was sent before it and is still in the channel: it stays there, in front of everything that comes. */
  readonly overtaken: readonly RecordBatch<T>[];
}

/**
 * A FIFO edge between two subtasks: an Observable of elements with a bounded buffer.
 *
 * The producer sends only while there is demand; control elements, and the partial batch flushed right before one, never wait for it, so the
 * buffer holds at most `capacity` records, one batch and the control elements. The consumer subscribes once and asks for one element at a time.
 * Barriers that overtake are beside the buffer, each with its place in it.
 */
export class Channel<T> extends Observable<StreamElement<T>> {
  readonly #capacity: number;
  readonly #demand = new BehaviorSubject(true);
  #queue: (StreamElement<T> | undefined)[] = [];
  #head = 0;
  #buffered = 0;
  /** Elements ever taken from the buffer: with it, a place in the buffer stays the same while the buffer moves on. */
  #taken = 0;
  #overtaking: { readonly barrier: Barrier; readonly place: number }[] = [];
  #isAbandoned = false;
  #consumer: Subscriber<StreamElement<T>> | undefined;
  /** Called when an element arrives in an empty channel. */
  onArrival: (() => void) | undefined;
  /** Called when a barrier enters the channel, before the consumer takes it. */
  onBarrier: ((barrier: Barrier) => void) | undefined;
  /** Called for each barrier that can be taken with `takeOvertaking`. */
  onOvertaking: (() => void) | undefined;

  constructor(capacity: number = CHANNEL_CAPACITY) {
    super((subscriber) => {
      if (this.#consumer !== undefined) {
        subscriber.error(new WeirError('PROTOCOL_VIOLATION', 'a channel has one consumer and was subscribed twice'));
        return;
      }
      this.#consumer = subscriber;
    });
    this.#capacity = capacity;
  }

  /** True while the producer may send records. */
  get hasDemand(): boolean {
    return this.#demand.value;
  }
  /** The present demand and every change of it. */
  get demand$(): Observable<boolean> {
    return this.#demand;
  }
  get isEmpty(): boolean {
    return this.#head === this.#queue.length;
  }
  /** Kind of the oldest element. */
  get nextKind(): StreamElement<T>['kind'] | undefined {
    return this.#queue[this.#head]?.kind;
  }
  /** Records in the buffer. */
  get bufferedRecords(): number {
    return this.#buffered;
  }

  send(element: StreamElement<T>): void {
    if (this.#isAbandoned) return;
    const wasEmpty = this.isEmpty;
    this.#queue.push(element);
    if (element.kind === 'batch') {
      this.#buffered += element.records.length;
      if (this.#buffered >= this.#capacity && this.#demand.value) this.#demand.next(false);
    }
    if (wasEmpty) this.onArrival?.();
    if (element.kind === 'barrier') this.onBarrier?.(element);
  }

  /** Hands a barrier over beside the buffer; its place is behind all that was sent so far. */
  overtake(barrier: Barrier): void {
    if (this.#isAbandoned) return;
    this.#overtaking.push({ barrier, place: this.#taken + this.#queue.length - this.#head });
    this.onOvertaking?.();
  }

  /** What `pass` sends goes in front of the end of the channel, as if the producer had not finished; nothing happens once that end was taken. */
  beforeEnd(pass: () => void): void {
    const end = this.isEmpty ? undefined : this.#queue.at(-1);
    if (end?.kind !== 'end-of-channel') return;
    this.#queue.pop();
    pass();
    this.#queue.push(end);
  }

  /** The consumer takes nothing any more: what was sent, and what will be, is dropped. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#queue = [];
    this.#head = 0;
    this.#overtaking = [];
  }

  /** Lets the barrier of a checkpoint overtake that waits in the buffer and may do so; false if there is none. */
  letOvertake(checkpointId: CheckpointId): boolean {
    const index = this.#queue.findIndex(
      (e) => e?.kind === 'barrier' && e.checkpointId === checkpointId && isTimeoutable(e),
    );
    if (index === -1) return false;
    const [barrier] = this.#queue.splice(index, 1) as [Barrier];
    const place = this.#taken + index - this.#head;
    this.#overtaking = this.#overtaking.map((o) => (o.place > place ? { ...o, place: o.place - 1 } : o));
    this.#overtaking.push({ barrier: forwarded(barrier, true), place });
    this.onOvertaking?.();
    return true;
  }

  /** The oldest barrier that has overtaken and was not taken yet. */
  takeOvertaking(): OvertakingBarrier<T> | undefined {
    const oldest = this.#overtaking.shift();
    if (oldest === undefined) return undefined;
    const before = this.#queue.slice(this.#head, this.#head + Math.max(0, oldest.place - this.#taken));
    return { barrier: oldest.barrier, overtaken: before.filter((e) => e?.kind === 'batch') };
  }

  /** Hands the oldest element to the subscriber; false if there is none. */
  request(): boolean {
    if (this.#head === this.#queue.length) return false;
    const element = this.#queue[this.#head] as StreamElement<T>;
    this.#queue[this.#head++] = undefined;
    this.#taken++;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    } else if (this.#head >= 1024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    if (element.kind === 'batch') {
      this.#buffered -= element.records.length;
      // Half empty before asking again: a producer that is woken for every single batch never gets a full slice.
      if (!this.#demand.value && this.#buffered <= this.#capacity / 2) this.#demand.next(true);
    }
    this.#consumer?.next(element);
    return true;
  }
}
