import type { Clock, SourceReader } from '@weir/core/contracts';
import type { Pace } from './pace.js';

export interface SequenceOptions<T> {
  /** The record with this number in the split. */
  readonly record: (index: number) => T;
  readonly next: number;
  /** Records in the split. */
  readonly length: number;
  readonly clock: Clock;
  /** Absent: as fast as they are taken. */
  readonly pace: Pace | undefined;
}

/** Numbers records and, with a pace, waits until the next one is due. */
export class SequenceReader<T> implements SourceReader<T, number> {
  readonly #options: SequenceOptions<T>;
  #next: number;
  #stopWaiting: (() => void) | undefined;
  #closed = false;

  constructor(options: SequenceOptions<T>) {
    this.#options = options;
    this.#next = options.next;
  }

  poll(max: number): readonly T[] | Promise<readonly T[] | 'end'> | 'end' {
    const { length, pace, record } = this.#options;
    if (this.#next >= length) return 'end';
    const wanted = Math.min(max, length - this.#next);
    const count = pace === undefined ? wanted : pace.take(wanted);
    if (count === 0) return this.#wait(max);
    const records = new Array<T>(count);
    for (let i = 0; i < count; i++) records[i] = record(this.#next++);
    return records;
  }

  position(): number {
    return this.#next;
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#stopWaiting?.();
    return Promise.resolve();
  }

  async #wait(max: number): Promise<readonly T[] | 'end'> {
    const { clock, pace } = this.#options;
    await new Promise<void>((resolve) => {
      const cancel = clock.timer(pace?.waitMs() ?? 0, resolve);
      this.#stopWaiting = () => {
        cancel();
        resolve();
      };
    });
    this.#stopWaiting = undefined;
    return this.#closed ? [] : this.poll(max);
  }
}
