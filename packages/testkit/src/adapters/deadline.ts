/** Whether a promise settles within real time `ms`, whatever it settles to. */
export function settlesWithin(ms: number, promise: PromiseLike<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(false);
    }, ms);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
