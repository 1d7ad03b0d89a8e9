import type { Clock } from '../contracts/clock.js';

/** What `promise` gives, or a rejection with `failure` if it takes longer than `ms`. */
export function withinTime<T>(clock: Clock, promise: Promise<T>, ms: number, failure: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => {
      reject(failure);
    });
    promise.then(resolve, reject).finally(cancel);
  });
}
