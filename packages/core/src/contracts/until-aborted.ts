/**
 * Settles like `promise`, or rejects with the signal's reason as soon as it aborts. Whichever comes first, the signal keeps no listener, so that any
 * number of waits on one signal leave nothing behind. `Promise.race` with a promise that lives longer does: that one keeps a reaction for each race
 * until it settles.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise
      .finally(() => {
        signal.removeEventListener('abort', onAbort);
      })
      .then(resolve, reject);
  });
}
