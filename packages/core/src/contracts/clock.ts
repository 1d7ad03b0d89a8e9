/**
 * Time and the turns of the event loop, injected everywhere. The system clock is an adapter; tests use a virtual one,
 * which runs one due action, then lets promises settle, then the next.
 */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Milliseconds from an arbitrary start, never going back, with fractions. */
  monotonic(): number;
  /** Runs `action` once after at least `delayMs`; any non-negative delay, also above 2^31 ms. The returned function cancels it. */
  timer(delayMs: number, action: () => void): () => void;
  /** Runs `action` after the event loop has had a turn (timers and I/O got their chance). The returned function cancels it. */
  nextTurn(action: () => void): () => void;
}

/** A number in [0, 1), as from Math.random. */
export type Random = () => number;

/** A promise that settles after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.timer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** A promise that settles in the next turn of the event loop. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.nextTurn(resolve);
  });
}

/** So many operators take long enough for others to be let run in between. */
const MANY_OPERATORS = 1000;

/** Lets others run between two pieces of work that each take time in proportion to the number of operators. Undefined: they are few. */
export function betweenParts(clock: Clock, operators: number): Promise<void> | undefined {
  return operators < MANY_OPERATORS ? undefined : nextTurn(clock);
}
