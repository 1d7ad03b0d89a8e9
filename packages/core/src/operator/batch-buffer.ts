import type { Subscriber } from 'rxjs';
import { BATCH_SIZE, type StreamElement } from '../element/element.js';

/** Collects what an operator emits into batches. Timestamps are kept as soon as one record has one. */
export class BatchBuffer<T> {
  readonly #target: Subscriber<StreamElement<T>>;
  #records: T[] = [];
  #timestamps: number[] | undefined;
  /** Batches sent so far: when it has changed, the flow may have too. */
  sent = 0;

  constructor(target: Subscriber<StreamElement<T>>) {
    this.#target = target;
  }

  push(record: T): void {
    if (this.#timestamps !== undefined) this.#timestamps.push(Number.NEGATIVE_INFINITY);
    if (this.#records.push(record) >= BATCH_SIZE) this.flush();
  }

  pushAt(record: T, timestamp: number | undefined): void {
    if (timestamp === undefined) {
      this.push(record);
      return;
    }
    this.#timestamps ??= new Array<number>(this.#records.length).fill(Number.NEGATIVE_INFINITY);
    this.#timestamps.push(timestamp);
    if (this.#records.push(record) >= BATCH_SIZE) this.flush();
  }

  flush(): void {
    if (this.#records.length === 0) return;
    const records = this.#records;
    const timestamps = this.#timestamps;
    this.#records = [];
    this.#timestamps = undefined;
    this.sent++;
    this.#target.next(timestamps === undefined ? { kind: 'batch', records } : { kind: 'batch', records, timestamps });
  }
}
