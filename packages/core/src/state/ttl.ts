import type { Clock } from '../contracts/clock.js';
import type { StateExpiry } from '../contracts/state-backend.js';
import { WeirError } from '../errors.js';
import { millisecondsOf, type Duration } from '../time/duration.js';

/** How long what a state keeps may be read (Flink: StateTtlConfig). Counted in processing time, also while the job does not run. */
export interface StateTtl {
  /** From when it was written last: a value, an element of a list, an entry of a map, each by itself. More than 0. */
  readonly after: Duration;
  /** `on-read-and-write`: reading it begins its time anew, too (Flink: UpdateType.OnReadAndWrite). Default `on-write` (OnCreateAndWrite). */
  readonly update?: 'on-write' | 'on-read-and-write' | undefined;
  /**
   * What has expired and is never touched again is looked for: so many entries for each record, 0 to 1,000. Default 2; 0: it stays until it is
   * touched, or the job starts from a checkpoint (Flink: cleanupIncrementally).
   */
  readonly cleanupPerRecord?: number | undefined;
}

/** The same, checked. */
export interface Ttl {
  readonly afterMs: number;
  readonly isRefreshedByReading: boolean;
  readonly cleanupPerRecord: number;
}

/** A record makes one entry at most, so with two looks for each no more than a third is added to what lives. Flink takes five, at an access. */
const DEFAULT_CLEANUP = 2;
const MOST_CLEANUP = 1000;

/** Fails with CONFIG_INVALID. */
export function checkedTtl({ after, update = 'on-write', cleanupPerRecord = DEFAULT_CLEANUP }: StateTtl): Ttl {
  const afterMs = millisecondsOf(after);
  if (typeof afterMs !== 'number') throw invalid(`after ${afterMs.problem}`);
  if (afterMs === 0) throw invalid('after must be more than 0');
  // Callers without a compiler may pass anything.
  if (!UPDATES.has(update))
    throw invalid(`update must be 'on-write' or 'on-read-and-write', but is ${update as string}`);
  if (!Number.isInteger(cleanupPerRecord) || cleanupPerRecord < 0 || cleanupPerRecord > MOST_CLEANUP)
    throw invalid(`cleanupPerRecord must be a whole number from 0 to 1000, but is ${String(cleanupPerRecord)}`);
  return { afterMs, isRefreshedByReading: update === 'on-read-and-write', cleanupPerRecord };
}

const UPDATES: ReadonlySet<unknown> = new Set(['on-write', 'on-read-and-write']);

function invalid(what: string): WeirError {
  return new WeirError('CONFIG_INVALID', `The time to live of a state: ${what}.`, { recoverable: false });
}

/** What is kept in place of a value that expires. */
export interface Stamped<T = unknown> {
  /** When its time began, epoch ms. */
  readonly since: number;
  readonly value: T;
}

/** Tells which values of one state have expired. */
export class Expiry implements StateExpiry {
  readonly ttl: Ttl;
  readonly #clock: Clock;

  constructor(ttl: Ttl, clock: Clock) {
    this.ttl = ttl;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }
  stamp(value: unknown): Stamped {
    return { since: this.#clock.now(), value };
  }
  /** A clock that was set back makes nothing older. */
  isOver(since: number, now: number): boolean {
    return now - since >= this.ttl.afterMs;
  }
  isExpired(stored: unknown): boolean {
    // What a state with an expiry stores was stamped above.
    return this.isOver((stored as Stamped).since, this.#clock.now());
  }
  shown(stored: unknown): unknown {
    return (stored as Stamped).value;
  }
}
