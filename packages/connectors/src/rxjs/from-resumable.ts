import { staticSplits, type Source, type SourceSplit } from '@weir/core/contracts';
import type { ObservableInput } from 'rxjs';
import { checkedCapacity } from './capacity.js';
import { ResumableReader, type Resumable } from './resumable-reader.js';

export interface FromResumableOptions<T, P> {
  /**
   * Where to begin without a checkpoint: plain data, as a position. It is part of every checkpoint from the first on, so that "now" or "the end of the
   * log" may be another place in each run: a restored job goes on from where it began.
   */
  readonly start: P;
  /**
   * Everything behind `resumeAt`, each record with where to go on behind it: plain data that the serializer takes and nobody changes afterwards.
   * `signal` aborts when no more records are wanted of this call: pass it to what it awaits.
   */
  open(resumeAt: P, signal: AbortSignal): ObservableInput<Resumable<T, P>>;
  /** Records that are buffered between what is opened and the job. Default 10,000. */
  readonly capacity?: number | undefined;
}

/** All there is to read, from where the job has begun. */
export interface ResumableSplit<P> extends SourceSplit {
  readonly start: P;
}

/**
 * A replayable source out of anything that can be opened at a position: an Observable, a promise, an iterable or an async iterable. After a failure
 * it is opened at the position of the checkpoint.
 *
 * The job's back-pressure reaches it: an async iterable is not asked for more; whatever pushes is unsubscribed when the buffer is full, and opened
 * again at the last `resumeAt` when it is half empty. Completing ends the stream. An error, also one that `open` throws, fails the attempt after the
 * records before it. Closing waits up to 10 s for the `finally` of an async generator, so that no two attempts read at the same time.
 */
export function fromResumable<T, P>(
  options: FromResumableOptions<T, P>,
): Source<T, 'replayable', ResumableSplit<P>, P> {
  const capacity = checkedCapacity('fromResumable', options.capacity);
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: (context) => staticSplits([{ id: 'resumable', start: options.start }], { context, fixed: true }),
    open: async ({ start }, position, context) =>
      new ResumableReader(
        (resumeAt, signal) => options.open(resumeAt, signal),
        position === undefined ? start : position,
        capacity,
        context,
      ),
  };
}
