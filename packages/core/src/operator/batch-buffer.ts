import type { Subscriber } from 'rxjs';
import { BATCH_SIZE, batchOf, type StreamElement } from '../element/element.js';
import type { Key } from '../element/key.js';

/**
 * Collects what an operator emits into batches. Timestamps are kept as soon as one record has one, keys if it is told to. Its fields are private to the compiler only: private
 * names made a record dearer.
 */
export class BatchBuffer<T> {
  private readonly target: Subscriber<StreamElement<T>>;
  private records: T[] = [];
  private timestamps: number[] | undefined;
  private keys: Key[] | undefined;
  /** There are timestamps or keys. */
  private hasColumns = false;
  /** What the records that are added are keyed by, where keys are kept. */
  key: Key | undefined;
  /** Records that were not sent yet. Only this class changes it. */
  count = 0;
  /** Batches sent so far: when it has changed, the flow may have too. */
  sent = 0;

  constructor(target: Subscriber<StreamElement<T>>) {
    this.target = target;
  }

  /** From now on records have keys. */
  keepKeys(): void {
    this.keys = [];
    this.hasColumns = true;
  }

  push(record: T): void {
    this.add(record);
    if (this.count >= BATCH_SIZE) this.flush();
  }

  pushAt(record: T, timestamp: number | undefined): void {
    this.addAt(record, timestamp);
    if (this.count >= BATCH_SIZE) this.flush();
  }

  /** As `push`, for whoever flushes a full batch itself. */
  add(record: T): void {
    if (this.hasColumns) this.addToColumns(undefined);
    this.records[this.count++] = record;
  }

  addAt(record: T, timestamp: number | undefined): void {
    if (timestamp !== undefined && this.timestamps === undefined) this.beginTimestamps();
    if (this.hasColumns) this.addToColumns(timestamp);
    this.records[this.count++] = record;
  }

  private beginTimestamps(): void {
    this.timestamps = new Array<number>(this.count).fill(Number.NEGATIVE_INFINITY);
    this.hasColumns = true;
  }

  private addToColumns(timestamp: number | undefined): void {
    if (this.timestamps !== undefined) this.timestamps.push(timestamp ?? Number.NEGATIVE_INFINITY);
    if (this.keys !== undefined) this.keys.push(this.key as Key);
  }

  /** One of those that were not sent yet. */
  at(place: number): T {
    return this.records[place] as T;
  }

  replace(place: number, record: T): void {
    this.records[place] = record;
  }

  flush(): void {
    const count = this.count;
    if (count === 0) return;
    const records = this.records;
    const timestamps = this.timestamps;
    const keys = this.keys;
    records.length = count;
    // Room for as many again: an array that grows by and by is copied several times.
    this.records = new Array<T>(Math.min(count, BATCH_SIZE));
    this.count = 0;
    this.timestamps = undefined;
    this.hasColumns = keys !== undefined;
    if (keys !== undefined) this.keys = [];
    if (count <= BATCH_SIZE) this.send(records, timestamps, keys);
    else
      for (let from = 0; from < count; from += BATCH_SIZE)
        this.send(
          records.slice(from, from + BATCH_SIZE),
          timestamps?.slice(from, from + BATCH_SIZE),
          keys?.slice(from, from + BATCH_SIZE),
        );
  }

  private send(
    records: readonly T[],
    timestamps: readonly number[] | undefined,
    keys: readonly Key[] | undefined,
  ): void {
    this.sent++;
    this.target.next(batchOf(records, timestamps, keys));
  }
}
