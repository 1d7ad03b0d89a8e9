import { BehaviorSubject, Observable, type Subscriber } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import { WeirError } from '../errors.js';

/** Records that a channel buffers before it withdraws demand. */
export const CHANNEL_CAPACITY = 2048;

/**
 * A FIFO edge between two subtasks: an Observable of elements with a bounded buffer.
 *
 * The producer sends only while there is demand; control elements, and the partial batch flushed right before one, never wait for it, so the
 * buffer holds at most `capacity` records, one batch and the control elements. The consumer subscribes once and asks for one element at a time.
 */
export class Channel<T> extends Observable<StreamElement<T>> {
  readonly #capacity: number;
  readonly #demand = new BehaviorSubject(true);
  #queue: (StreamElement<T> | undefined)[] = [];
  #head = 0;
  #buffered = 0;
  #consumer: Subscriber<StreamElement<T>> | undefined;
  /** Called when an element arrives in an empty channel. */
  onArrival: (() => void) | undefined;

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
    const wasEmpty = this.isEmpty;
    this.#queue.push(element);
    if (element.kind === 'batch') {
      this.#buffered += element.records.length;
      if (this.#buffered >= this.#capacity && this.#demand.value) this.#demand.next(false);
    }
    if (wasEmpty) this.onArrival?.();
  }

  /** Hands the oldest element to the subscriber; false if there is none. */
  request(): boolean {
    if (this.#head === this.#queue.length) return false;
    const element = this.#queue[this.#head] as StreamElement<T>;
    this.#queue[this.#head++] = undefined;
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
