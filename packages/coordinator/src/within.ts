import type { Clock } from '@weir/core/contracts';

export type Outcome<T> =
  | { readonly kind: 'settled'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** It is still under way. */
  | { readonly kind: 'late' };

/** How `promise` stands after at most `ms`, or when `signal` aborts. Whoever may end before gives one: no timer is left behind then. */
export function within<T>(clock: Clock, promise: Promise<T>, ms: number, signal?: AbortSignal): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const late = (): void => {
      cancel();
      resolve({ kind: 'late' });
    };
    const stopTimer = clock.timer(ms, late);
    const cancel = (): void => {
      stopTimer();
      signal?.removeEventListener('abort', late);
    };
    if (signal?.aborted === true) late();
    else signal?.addEventListener('abort', late, { once: true });
    promise
      .then(
        (value) => {
          resolve({ kind: 'settled', value });
        },
        (error: unknown) => {
          resolve({ kind: 'failed', error });
        },
      )
      .finally(cancel);
  });
}
