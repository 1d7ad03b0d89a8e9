import type { Clock } from '@weir/core/contracts';
import { armDeadline } from './deadline.js';
import type { PendingCheckpoint } from './pending-checkpoint.js';
import type { Asked } from './requests.js';

/** Whoever is set up for longer must not keep savepoints and checkpoints from each other. */
export const SET_UP_PATIENCE_MS = 30_000;

/** A checkpoint or savepoint that has begun, and who waits for it. */
export interface Entry {
  readonly pending: PendingCheckpoint;
  readonly asked: Asked;
  readonly stopTimeout: () => void;
  readonly stopPatience: () => void;
  /** While it is being published: settles when the storage has answered. */
  publication: Promise<void> | undefined;
  /** Settles when nothing more comes of it. */
  readonly over: Promise<void>;
  readonly end: () => void;
}

/** The timeout covers storage and enumerators too, but not the time in the queue. */
export function entryOf(
  pending: PendingCheckpoint,
  asked: Asked,
  clock: Clock,
  on: {
    readonly timeoutMs: number;
    readonly expired: (entry: Entry, blockedMs: number) => void;
    /** Its set-up takes long. */
    readonly impatient: () => void;
  },
): Entry {
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stopTimeout = armDeadline(clock, on.timeoutMs, (blockedMs) => {
    on.expired(entry, blockedMs);
  });
  const stopPatience = clock.timer(SET_UP_PATIENCE_MS, on.impatient);
  const entry: Entry = { pending, asked, stopTimeout, stopPatience, publication: undefined, over, end };
  return entry;
}
