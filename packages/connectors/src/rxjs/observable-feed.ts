import { WeirError, type Counter, type SourceContext } from '@weir/core/contracts';
import { Subscription } from 'rxjs';
import { Inbox } from './inbox.js';
import { subscribeWithin, type ObservableLike } from './observable-like.js';

/** What happens to a record that finds the buffer full. */
export type Overflow = 'fail' | 'drop-oldest' | 'drop-newest';

export interface FeedOptions {
  readonly overflow: Overflow;
  readonly capacity: number;
}

/** The one subscription of a job to an Observable, from attempt to attempt: what arrives while none runs waits in the buffer like the rest. */
export class ObservableFeed<T> {
  readonly inbox: Inbox<T>;
  readonly #options: FeedOptions;
  readonly #context: SourceContext;
  readonly #dropped: Counter;
  readonly #subscription = new Subscription();
  #hasDropped = false;

  constructor(source: ObservableLike<T>, options: FeedOptions, context: SourceContext) {
    this.inbox = new Inbox(options.capacity);
    this.#options = options;
    this.#context = context;
    this.#dropped = context.metrics.counter('weir.source.dropped', { uid: context.uid });
    subscribeWithin(this.#subscription, source, {
      next: (record) => {
        this.#accept(record);
      },
      error: (error: unknown) => {
        this.inbox.fail(this.#failed(error));
      },
      complete: () => {
        this.inbox.complete();
      },
    });
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }

  #accept(record: T): void {
    if (!this.inbox.isFull) {
      this.inbox.put(record);
      return;
    }
    switch (this.#options.overflow) {
      case 'fail':
        this.#overflow();
        return;
      case 'drop-oldest':
        this.#drop();
        this.inbox.dropOldest();
        this.inbox.put(record);
        return;
      case 'drop-newest':
        this.#drop();
    }
  }

  #drop(): void {
    this.#dropped.add(1);
    if (this.#hasDropped) return;
    this.#hasDropped = true;
    const { capacity, overflow } = this.#options;
    this.#context.logger.warn(
      { uid: this.#context.uid, capacity, overflow },
      'the Observable is faster than the job: its buffer is full and records are dropped from now on (counted in weir.source.dropped)',
    );
  }

  /** Ends the feed at once: the job fails for certain, so what is buffered has no use. */
  #overflow(): void {
    const { uid, job } = this.#context;
    this.inbox.dropAll();
    this.inbox.fail(
      new WeirError(
        'SOURCE_OVERFLOW',
        `Source ${uid} of job ${job}: the Observable produced more than the ${String(this.#options.capacity)} records that its buffer holds. ` +
          "It cannot be paused: raise capacity, make the job faster, or accept losses with overflow 'drop-oldest' or 'drop-newest'. " +
          'What can be opened again at a position belongs in fromResumable, which waits instead.',
        { recoverable: false },
      ),
    );
    this.stop();
  }

  #failed(error: unknown): WeirError {
    const { uid, job } = this.#context;
    return new WeirError(
      'SOURCE_FAILED',
      `Source ${uid} of job ${job}: the Observable failed, and it cannot be subscribed again without losing or repeating records.`,
      { cause: error, recoverable: false },
    );
  }
}
