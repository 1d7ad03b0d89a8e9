import { parseDuration, type Duration } from '@weir/core';
import type { RestartStrategy } from '@weir/core/contracts';

export interface FixedDelayOptions {
  /** How many times the job is restarted; 0 is none, Infinity is no limit. Default 1. */
  readonly attempts?: number | undefined;
  /** Time from a failure to the restart. Default 1 s. */
  readonly delay?: Duration | undefined;
}

/** Counts failures for ever; a long time without one gives no attempt back (Flink: FixedDelayRestartBackoffTimeStrategy). */
export function fixedDelay({ attempts = 1, delay = 1000 }: FixedDelayOptions = {}): RestartStrategy<number> {
  const delayMs = parseDuration(delay, 'delay');
  return {
    type: 'fixed-delay',
    description: `fixed-delay (attempts ${String(attempts)}, delay ${String(delayMs)} ms)`,
    initial: () => 0,
    decide(failuresBefore) {
      const failures = failuresBefore + 1;
      return failures <= attempts
        ? [failures, { restart: true, delayMs }]
        : [failures, { restart: false, reason: `all of its ${String(attempts)} restarts are used up` }];
    },
  };
}
