import type { Sink, SourceGrade } from '@weir/core/contracts';
import type { Stream } from '@weir/core/operators';
import type { Observable } from 'rxjs';
import { JobOutput } from './job-output.js';

export interface ToObservableOptions {
  readonly uid?: string | undefined;
}

/**
 * As the last function in a pipe: the records as an Observable, live and hot. They come when they arrive, again after a restart, and are not kept for
 * those who subscribe later; subscribing and unsubscribing never touch the job. It completes when the job is finished or cancelled and errors when the
 * job fails.
 *
 * Values are handed over synchronously, so subscribers slow the job down to their speed. What one throws meanwhile fails the attempt.
 */
export function toObservable(
  options: ToObservableOptions = {},
): <T, G extends SourceGrade>(stream: Stream<T, G>) => Observable<T> {
  return <T>(stream: Stream<T>) => {
    const output = new JobOutput<T>();
    stream.to(liveSink(output), options);
    return output.observable;
  };
}

function liveSink<T>(output: JobOutput<T>): Sink<T, 'at-least-once'> {
  return {
    grade: 'at-least-once',
    prepare: () => {
      output.begin();
    },
    open: () => ({
      write: (batch) => {
        for (const record of batch) output.next(record);
      },
      close: () => undefined,
    }),
    jobEnded: (_job, ending) => {
      output.end(ending);
    },
  };
}
