import {
  messageOf,
  WeirError,
  type JobName,
  type OperatorUid,
  type Source,
  type SourceContext,
  type SourceReader,
  type SourceSplit,
} from '@weir/core/contracts';
import type { Observable } from 'rxjs';
import { checkedCapacity } from './capacity.js';
import type { Inbox } from './inbox.js';
import { ObservableFeed, type Overflow } from './observable-feed.js';
import type { ObservableLike } from './observable-like.js';
import { onlySplit } from './only-split.js';

export interface FromObservableOptions {
  /**
   * What happens to a record that finds the buffer full, because a push source cannot be paused: `fail` ends the job with SOURCE_OVERFLOW,
   * `drop-oldest` and `drop-newest` lose a record, counted in the metric `weir.source.dropped`. There is no default.
   */
  readonly overflow: Overflow;
  /** Records that are buffered between the Observable and the job. Default 10,000. */
  readonly capacity?: number | undefined;
  /**
   * Called once for each job, when the Observable has been subscribed for it: from here on every value is buffered. What a Subject was given before
   * had no subscriber, is gone, and is seen by nobody who could count it. What it throws fails the job.
   */
  readonly onSubscribed?: ((job: JobName) => void) | undefined;
}

const SPLIT: SourceSplit = { id: 'observable' };
const POLICIES: readonly string[] = ['fail', 'drop-oldest', 'drop-newest'] satisfies Overflow[];

/**
 * The values of an Observable, each at most once: after a failure the job goes on with what arrives next. It is subscribed once per job, before the
 * job's status becomes `running`, and not again at a restart; values that come while no attempt runs are buffered under the same policy. A source
 * that emits synchronously (`of`, `range`) does so at once, and meets the policy as soon as it has filled the buffer.
 *
 * What a Subject is given is safe from `onSubscribed` on, or once the status is `running`. That `env.start` has returned is too early.
 *
 * Completing ends the stream. An error fails the job after the values before it, and no restart is tried.
 */
export function fromObservable<T>(
  source: Observable<T> | ObservableLike<T>,
  options: FromObservableOptions,
): Source<T, 'at-most-once', SourceSplit, undefined> {
  const { overflow } = options;
  if (!POLICIES.includes(overflow)) {
    throw invalid(`overflow must be one of ${POLICIES.join(', ')}, not ${overflow as string}`);
  }
  if (typeof (source as Partial<ObservableLike<T>> | undefined)?.subscribe !== 'function') {
    throw invalid('the source has no subscribe method; from(...) of RxJS makes an Observable of most things');
  }
  const capacity = checkedCapacity('fromObservable', options.capacity);
  const feeds = new Map<JobName, Map<OperatorUid, ObservableFeed<T>>>();

  const feedOf = (context: SourceContext): ObservableFeed<T> => {
    const { job, uid } = context;
    const ofJob = feeds.get(job) ?? new Map<OperatorUid, ObservableFeed<T>>();
    const known = ofJob.get(uid);
    if (known !== undefined) return known;
    const feed = new ObservableFeed(source, { overflow, capacity }, context);
    feeds.set(job, ofJob.set(uid, feed));
    tellOfSubscription(options, context);
    return feed;
  };

  return {
    grade: 'at-most-once',
    bounded: false,
    enumerator: (context) => onlySplit(SPLIT, context, () => feedOf(context)),
    open: (_split, _position, context) => Promise.resolve(readerOf(feedOf(context).inbox)),
    jobEnded(job) {
      const ended = feeds.get(job) ?? [];
      feeds.delete(job);
      for (const [, feed] of ended) feed.stop();
    },
  };
}

/** One attempt's view of the feed. What it has not taken is there for the next. */
function readerOf<T>(inbox: Inbox<T>): SourceReader<T, undefined> {
  let isClosed = false;
  return {
    poll: (max) => inbox.take(max) ?? inbox.arrival().then(() => (isClosed ? [] : (inbox.take(max) ?? []))),
    position: () => undefined,
    close() {
      isClosed = true;
      inbox.release();
      return Promise.resolve();
    },
  };
}

function tellOfSubscription({ onSubscribed }: FromObservableOptions, { job, uid }: SourceContext): void {
  try {
    onSubscribed?.(job);
  } catch (error) {
    // It is not called again, so a restart would go on without whatever it was to begin.
    throw new WeirError('SOURCE_FAILED', `Source ${uid} of job ${job}: onSubscribed threw: ${messageOf(error)}`, {
      cause: error,
      recoverable: false,
    });
  }
}

function invalid(what: string): WeirError {
  return new WeirError('CONFIG_INVALID', `fromObservable: ${what}.`, { recoverable: false });
}
