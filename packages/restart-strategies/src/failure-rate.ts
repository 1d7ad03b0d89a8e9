import { parseDuration, type Duration } from '@weir/core';
import type { RestartStrategy } from '@weir/core/contracts';

export interface FailureRateOptions {
  /** How many failures within the interval are answered by a restart. Default 1. */
  readonly maxFailuresPerInterval?: number | undefined;
  /** Default 1 min. */
  readonly failureRateInterval?: Duration | undefined;
  /** Time from a failure to the restart. Default 1 s. */
  readonly delay?: Duration | undefined;
}

/**
 * Gives up when one failure more than allowed falls into an interval, which slides along with the failures; exactly the interval still is inside
 * (Flink: FailureRateRestartBackoffTimeStrategy; older ones gave up one failure earlier). The state is the times of the latest failures, oldest first.
 */
export function failureRate(options: FailureRateOptions = {}): RestartStrategy<readonly number[]> {
  const { maxFailuresPerInterval: max = 1 } = options;
  const intervalMs = parseDuration(options.failureRateInterval ?? 60_000, 'failureRateInterval');
  const delayMs = parseDuration(options.delay ?? 1000, 'delay');
  return {
    type: 'failure-rate',
    description: `failure-rate (max failures ${String(max)}, interval ${String(intervalMs)} ms, delay ${String(delayMs)} ms)`,
    initial: () => [],
    decide(before, _failure, { now }) {
      const failures = [...before.slice(-max), now];
      const oldest = failures[0] ?? now;
      return failures.length <= max || now - oldest > intervalMs
        ? [failures, { restart: true, delayMs }]
        : [
            failures,
            {
              restart: false,
              reason: `there were ${String(failures.length)} failures within ${String(Math.round(now - oldest))} ms`,
            },
          ];
    },
  };
}
