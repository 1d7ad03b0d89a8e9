import { tap, type StreamOperator } from '@weir/core/operators';

/** Passes records on, and throws the first time that `isPoison` holds, whichever attempt it is: a transient failure. */
export function failOnce<T>(isPoison: (record: T) => boolean): StreamOperator<T, T> {
  let hasFailed = false;
  return tap((record) => {
    if (hasFailed || !isPoison(record)) return;
    hasFailed = true;
    throw new Error('failOnce met its record');
  });
}
