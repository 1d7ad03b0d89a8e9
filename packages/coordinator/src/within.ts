import type { Clock } from '@weir/core/contracts';

export type Outcome<T> =
  | { readonly kind: 'settled'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** It is still under way. */
  | { readonly kind: 'late' };

/** How `promise` stands after at most `ms`. */
export function within<T>(clock: Clock, promise: Promise<T>, ms: number): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const cancel = clock.timer(ms, () => {
      resolve({ kind: 'late' });
    });
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
