import type { Subscriber } from 'rxjs';
import { BATCH_SIZE, type StreamElement } from '../element/element.js';

/** Collects what an operator emits into batches. Timestamps are kept as soon as one record has one. */
export class BatchBuffer<T> {
  readonly #target: Subscriber<StreamElement<T>>;
  #records: T[] = [];
  #count = 0;
  #timestamps: number[] | undefined;
  /** Batches sent so far: when it has changed, the flow may have too. */
  sent = 0;

  constructor(target: Subscriber<StreamElement<T>>) {
    this.#target = target;
  }

  push(record: T): void {
    if (this.#timestamps !== undefined) this.#timestamps.push(Number.NEGATIVE_INFINITY);
    this.#records[this.#count] = record;
    if (++this.#count >= BATCH_SIZE) this.flush();
  }

  pushAt(record: T, timestamp: number | undefined): void {
    if (timestamp !== undefined) {
      this.#timestamps ??= new Array<number>(this.#count).fill(Number.NEGATIVE_INFINITY);
      this.#timestamps.push(timestamp);
    } else this.#timestamps?.push(Number.NEGATIVE_INFINITY);
    this.#records[this.#count] = record;
    if (++this.#count >= BATCH_SIZE) this.flush();
  }

  flush(): void {
    const count = this.#count;
    if (count === 0) return;
    const records = this.#records;
    const timestamps = this.#timestamps;
    records.length = count;
    // Room for as many again: an array that grows by and by is copied several times.
    this.#records = new Array<T>(count);
    this.#count = 0;
    this.#timestamps = undefined;
    this.sent++;
    this.#target.next(timestamps === undefined ? { kind: 'batch', records } : { kind: 'batch', records, timestamps });
  }
}
