import type { SourceGrade } from '@weir/core/contracts';
import type { Stream } from '@weir/core/operators';
import type { Observable } from 'rxjs';
import { checkedCapacity } from './capacity.js';
import { committedSink, type CommittedBatch } from './committed-sink.js';
import { JobOutput } from './job-output.js';

export interface CommittedOptions {
  readonly uid?: string | undefined;
  /**
   * Records that wait for a commit before the job is held back and a checkpoint is asked for ahead of its time; what is already on its way to the sink
   * comes on top. Default 10,000.
   */
  readonly capacity?: number | undefined;
}

/**
 * As the last function in a pipe: the records as an Observable that emits only what a completed checkpoint covers, exactly once as long as the process
 * lives, through restarts. After a crash of the process while it emits, the next one may emit that checkpoint's records again. Hot: subscribe before the job
 * starts. It completes when the job is finished or cancelled and errors when the job fails.
 *
 * One subtask collects the records, which must survive the serializer since they are part of the checkpoint. What a subscriber throws fails the
 * attempt with COMMIT_FAILED, and is not emitted again. With checkpointing off it emits whenever `capacity` records have come together, and at the end.
 */
export function committed(
  options: CommittedOptions = {},
): <T, G extends SourceGrade>(stream: Stream<T, G>) => Observable<T> {
  return <T>(stream: Stream<T>) => emitCommitted<T, T>(stream, options, ({ records }) => records);
}

/**
 * The same in one piece per checkpoint, with its id: whoever remembers the last id it has dealt with skips what comes again after a crash of the process
 * (ids up to that one). Ids begin anew when the job is started from the beginning.
 */
export function committedBatches(
  options: CommittedOptions = {},
): <T, G extends SourceGrade>(stream: Stream<T, G>) => Observable<CommittedBatch<T>> {
  return <T>(stream: Stream<T>) => emitCommitted<T, CommittedBatch<T>>(stream, options, (batch) => [batch]);
}

function emitCommitted<T, V>(
  stream: Stream<T>,
  { uid, capacity }: CommittedOptions,
  valuesOf: (batch: CommittedBatch<T>) => Iterable<V>,
): Observable<V> {
  const output = new JobOutput<V>();
  // One subtask, so that a checkpoint is one batch and its id tells batches apart.
  stream.to(committedSink(output, checkedCapacity('committed', capacity), valuesOf), { uid, parallelism: 1 });
  return output.observable;
}
