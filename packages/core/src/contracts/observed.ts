import { isPromiseLike } from './awaitable.js';

/** What `act` gives; undefined where it throws. A promise that it returns may reject without being an unhandled rejection. */
export function observed<T>(act: () => T, failed: (error: unknown) => void): T | undefined {
  try {
    const result: unknown = act();
    if (isPromiseLike(result)) result.then(undefined, failed);
    return result as T;
  } catch (error) {
    failed(error);
    return undefined;
  }
}
