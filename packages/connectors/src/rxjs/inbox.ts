import { RingBuffer } from './ring-buffer.js';

type End = { readonly kind: 'completed' } | { readonly kind: 'failed'; readonly error: unknown };

/** Between a producer that pushes and a reader that polls: a bounded buffer, and what comes after its last record. */
export class Inbox<T> {
  readonly #records: RingBuffer<T>;
  #end: End | undefined;
  #wake: (() => void) | undefined;

  constructor(capacity: number) {
    this.#records = new RingBuffer(capacity);
  }

  get size(): number {
    return this.#records.size;
  }
  get isFull(): boolean {
    return this.#records.isFull;
  }
  /** Nothing is put into it any more; what it holds is still to be taken. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  put(record: T): void {
    this.#records.push(record);
    this.release();
  }

  dropOldest(): void {
    this.#records.take(1);
  }

  dropAll(): void {
    this.#records.take(this.#records.size);
  }

  complete(): void {
    this.#finish({ kind: 'completed' });
  }

  fail(error: unknown): void {
    this.#finish({ kind: 'failed', error });
  }

  /** Up to `max` records; then the end, again at every call: 'end', or the error thrown. Undefined: nothing now. */
  take(max: number): T[] | 'end' | undefined {
    if (this.#records.size > 0) return this.#records.take(max);
    const end = this.#end;
    switch (end?.kind) {
      case undefined:
        return undefined;
      case 'completed':
        return 'end';
      case 'failed':
        throw end.error;
    }
  }

  /** Settles when there may be something to take, a microtask after the first of records that are put in one go; or at `release`. */
  arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  release(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #finish(end: End): void {
    this.#end ??= end;
    this.release();
  }
}
