import { withinTime, WeirError, type ReaderContext, type SourceReader } from '@weir/core/contracts';
import { from, Subscription, type ObservableInput } from 'rxjs';
import { Inbox } from './inbox.js';
import { openPulled, openPushed, type Intake, type Opening } from './opening.js';

/** A record, and where `open` goes on behind it. */
export interface Resumable<T, P> {
  readonly value: T;
  readonly resumeAt: P;
}
export type OpenAt<T, P> = (resumeAt: P, signal: AbortSignal) => ObservableInput<Resumable<T, P>>;

/** How long closing waits for an async generator that hangs in an await. */
const CLOSE_WAIT_MS = 10_000;

/** Reads what `open` gives from a position on: never more than the buffer holds, and opened again from where it was stopped when that was push. */
export class ResumableReader<T, P> implements SourceReader<T, P> {
  readonly #openAt: OpenAt<T, P>;
  readonly #capacity: number;
  readonly #context: ReaderContext;
  readonly #inbox: Inbox<Resumable<T, P>>;
  /** Behind the last record handed over. */
  #position: P;
  /** Behind the last record in the buffer. */
  #reached: P;
  #opening: Opening | undefined;
  #onRoom: (() => void) | undefined;
  #isClosed = false;

  constructor(openAt: OpenAt<T, P>, position: P, capacity: number, context: ReaderContext) {
    this.#openAt = openAt;
    this.#capacity = capacity;
    this.#context = context;
    this.#inbox = new Inbox(capacity);
    this.#position = position;
    this.#reached = position;
    this.#open();
  }

  poll(max: number): T[] | 'end' | Promise<T[] | 'end'> {
    const items = this.#inbox.take(max);
    if (items !== undefined) return this.#handOver(items);
    return this.#inbox.arrival().then(() => {
      if (this.#isClosed) return [];
      return this.#handOver(this.#inbox.take(max) ?? []);
    });
  }

  position(): P {
    return this.#position;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#inbox.release();
    if (this.#opening !== undefined) await this.#closeInTime(this.#opening);
  }

  #handOver(items: readonly Resumable<T, P>[] | 'end'): T[] | 'end' {
    if (items === 'end') return 'end';
    const last = items.at(-1);
    if (last !== undefined) this.#position = last.resumeAt;
    if (this.#inbox.size <= this.#capacity / 2 && !this.#inbox.hasEnded) {
      this.#onRoom?.();
      this.#onRoom = undefined;
    }
    return items.map(({ value }) => value);
  }

  #open(): void {
    if (this.#isClosed || this.#inbox.hasEnded) return;
    const openedAt = this.#reached;
    const controller = new AbortController();
    const lifetime = new Subscription(() => {
      controller.abort();
    });
    try {
      const input = this.#openAt(openedAt, controller.signal);
      const intake = this.#intakeFrom(openedAt);
      this.#opening = isAsyncIterable(input)
        ? openPulled(input, intake, lifetime)
        : openPushed(from(input), intake, lifetime);
    } catch (error) {
      this.#inbox.fail(error);
    }
  }

  #intakeFrom(openedAt: P): Intake<Resumable<T, P>> {
    const inbox = this.#inbox;
    return {
      put: (item) => {
        // User code may be JavaScript, and a record without position would be read again for ever.
        const { resumeAt } = (item as Partial<Resumable<T, P>> | undefined) ?? {};
        if (resumeAt === undefined) {
          inbox.fail(this.#violation('emitted something other than { value, resumeAt }'));
          return false;
        }
        inbox.put(item);
        this.#reached = resumeAt;
        return !inbox.isFull;
      },
      room: () =>
        new Promise((resolve) => {
          this.#onRoom = resolve;
        }),
      reopen: () => {
        if (Object.is(this.#reached, openedAt)) {
          inbox.fail(
            this.#violation(
              `filled the buffer of ${String(this.#capacity)} records and still says to resume where it was opened, so that opening it again would ` +
                'bring the same records; resumeAt is where to go on behind its record',
            ),
          );
        } else this.#open();
      },
      complete: () => {
        inbox.complete();
      },
      fail: (error) => {
        inbox.fail(error);
      },
    };
  }

  #violation(what: string): WeirError {
    const { uid, job } = this.#context;
    return new WeirError(
      'PROTOCOL_VIOLATION',
      `Source ${uid} of job ${job}: what open of fromResumable returned ${what}.`,
      { recoverable: false },
    );
  }

  /** The next attempt must not start beside the old reader, but a generator that hangs cannot be ended, and all it still does is ignored. */
  async #closeInTime(opening: Opening): Promise<void> {
    const { clock, logger, uid } = this.#context;
    const late = new Error('not closed in time');
    try {
      await withinTime(clock, opening.close(), CLOSE_WAIT_MS, late);
    } catch (error) {
      if (error !== late) throw error;
      logger.warn(
        { uid, waitedMs: CLOSE_WAIT_MS },
        'an async iterable of fromResumable did not end when it was told to; it is left behind',
      );
    }
  }
}

/** An Observable may be iterable too, but what it pushes between two pulls would queue without a bound. */
function isAsyncIterable<I>(input: ObservableInput<I>): input is AsyncIterable<I> {
  return Symbol.asyncIterator in input && !('subscribe' in input);
}
