import type { Clock } from './clock.js';

/** What `promise` gives, or a rejection with `failure` if it takes longer than `ms`. What it comes to later is nobody's. */
export function withinTime<T>(clock: Clock, promise: Promise<T>, ms: number, failure: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => {
      reject(failure);
    });
    promise.finally(cancel).then(resolve, reject);
  });
}
