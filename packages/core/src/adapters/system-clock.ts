import type { Clock } from '../contracts/clock.js';

/** setTimeout fires at once for longer delays. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** Time and turns of the running process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delayMs, action) {
    let handle: ReturnType<typeof setTimeout>;
    const arm = (rest: number): void => {
      handle = setTimeout(
        () => {
          if (rest > LONGEST_TIMEOUT) arm(rest - LONGEST_TIMEOUT);
          else action();
        },
        Math.min(rest, LONGEST_TIMEOUT),
      );
    };
    arm(Math.max(0, delayMs));
    return () => {
      clearTimeout(handle);
    };
  },
  nextTurn(action) {
    const handle = setImmediate(action);
    return () => {
      clearImmediate(handle);
    };
  },
};
