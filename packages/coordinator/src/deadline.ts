import type { Clock } from '@weir/core/contracts';

/** A timer that comes so late tells that the event loop was blocked. */
const BLOCKED_MS = 1000;

/**
 * Calls `onExpired` after `timeoutMs`. Where the event loop was blocked at the end of it, whoever has to answer could not, or was not heard, and gets
 * that time as well, once; `blockedMs` is how much that was. The returned function cancels it.
 */
export function armDeadline(clock: Clock, timeoutMs: number, onExpired: (blockedMs: number) => void): () => void {
  const due = clock.monotonic() + timeoutMs;
  let cancel = clock.timer(timeoutMs, () => {
    const lateMs = clock.monotonic() - due;
    if (lateMs < BLOCKED_MS) {
      onExpired(0);
      return;
    }
    cancel = clock.timer(Math.min(lateMs, timeoutMs), () => {
      onExpired(lateMs);
    });
  });
  return () => {
    cancel();
  };
}
