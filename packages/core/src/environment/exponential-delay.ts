import type { Random } from '../contracts/clock.js';
import type { FailureContext, RestartStrategy } from '../contracts/restart-strategy.js';
import { WeirError } from '../errors.js';
import { parseDuration, type Duration } from './duration.js';

export interface ExponentialDelayOptions {
  /** Time from the first failure to the restart. Default 1 s. */
  readonly initialBackoff?: Duration | undefined;
  /** The longest such time. Default 1 min. */
  readonly maxBackoff?: Duration | undefined;
  /** By how much each failure prolongs it; above 1. Default 1.5. */
  readonly backoffMultiplier?: number | undefined;
  /** After that long without a failure, and with a completed checkpoint, it is the first one again. Default 1 h. */
  readonly resetBackoffThreshold?: Duration | undefined;
  /** Share of it by which it varies at random, 0 to 1. Default 0.1. */
  readonly jitterFactor?: number | undefined;
  /** How many restarts there may be without such a quiet time between. Default any number. */
  readonly attemptsBeforeResetBackoff?: number | undefined;
}

/** Restarts since the last quiet time, and when the latest of them is or was due. */
export interface ExponentialDelayState {
  readonly attempts: number;
  readonly restartAt: number | undefined;
}

/** Multiplying goes on beyond every bound; this leaves room for the jitter in whole numbers. */
const LARGEST_BASE = 2 ** 51;

/**
 * Waits longer from failure to failure, with jitter, so that many jobs do not come back at once
 * (Flink: ExponentialDelayRestartBackoffTimeStrategy). A failure before the planned restart changes nothing. Other than in Flink, a quiet time counts
 * only if a checkpoint completed in it: an attempt that runs long and gets nowhere ends in the same failure.
 */
export function exponentialDelay(options: ExponentialDelayOptions = {}): RestartStrategy<ExponentialDelayState> {
  const { backoffMultiplier = 1.5, jitterFactor = 0.1, attemptsBeforeResetBackoff = Infinity } = options;
  const initialMs = parseDuration(options.initialBackoff ?? 1000, 'initialBackoff');
  const maxMs = parseDuration(options.maxBackoff ?? 60_000, 'maxBackoff');
  const thresholdMs = parseDuration(options.resetBackoffThreshold ?? 3_600_000, 'resetBackoffThreshold');
  if (initialMs > maxMs) {
    const message = `initialBackoff (${String(initialMs)} ms) must not be longer than maxBackoff (${String(maxMs)} ms)`;
    throw new WeirError('CONFIG_CONTRADICTION', message, { recoverable: false });
  }

  const backoff = (attempts: number, random: Random): number => {
    const base = Math.min(Math.trunc(initialMs * backoffMultiplier ** attempts), LARGEST_BASE);
    const reach = Math.trunc(jitterFactor * base);
    const jitter = Math.floor(random() * (2 * reach + 1)) - reach;
    return Math.min(Math.max(base + jitter, initialMs), maxMs);
  };

  return {
    type: 'exponential-delay',
    description: [
      `exponential-delay (initial backoff ${String(initialMs)} ms`,
      `max backoff ${String(maxMs)} ms`,
      `multiplier ${String(backoffMultiplier)}`,
      `jitter ${String(jitterFactor)}`,
      `reset after ${String(thresholdMs)} ms`,
      `attempts ${attemptsBeforeResetBackoff === Infinity ? 'unlimited' : String(attemptsBeforeResetBackoff)})`,
    ].join(', '),
    initial: () => ({ attempts: 0, restartAt: undefined }),
    decide(state, _failure, context) {
      // The clock goes in fractions; sums of them would not come out even.
      const now = Math.trunc(context.now);
      const next = isWaiting(state, now) ? state : planned(state, now, context);
      return next.attempts <= attemptsBeforeResetBackoff
        ? [next, { restart: true, delayMs: Math.max(0, (next.restartAt ?? now) - now) }]
        : [
            next,
            {
              restart: false,
              reason: `${String(attemptsBeforeResetBackoff)} restarts did not lead to ${String(thresholdMs)} ms without a failure and a checkpoint in them`,
            },
          ];
    },
  };

  function isWaiting({ restartAt }: ExponentialDelayState, now: number): boolean {
    return restartAt !== undefined && now <= restartAt;
  }

  function planned(
    { attempts, restartAt }: ExponentialDelayState,
    now: number,
    { random, progressed }: FailureContext,
  ): ExponentialDelayState {
    const isQuiet = restartAt !== undefined && now - restartAt >= thresholdMs;
    const before = isQuiet && progressed ? 0 : attempts;
    return { attempts: before + 1, restartAt: now + backoff(before, random) };
  }
}
