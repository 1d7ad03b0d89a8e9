import type { RestartDecision, RestartStrategy } from '../contracts/restart-strategy.js';
import { isRecoverable, messageOf, WeirError } from '../errors.js';

/**
 * What follows a failure of an attempt (Flink: ExecutionFailureHandler). The strategy is asked only where a restart can help,
 * so a failure that no restart repairs counts as none in its state.
 */
export function decideRestart<S>(
  strategy: RestartStrategy<S>,
  state: S,
  failure: unknown,
  context: Parameters<RestartStrategy<S>['decide']>[2],
): readonly [S, RestartDecision] {
  if (!isRecoverable(failure)) return [state, { restart: false, reason: 'a restart cannot help' }];
  return strategy.decide(state, failure, context);
}

/** The error of a job that is not started again; its cause is the failure. */
export function restartSuppressed(strategy: RestartStrategy, reason: string, failure: unknown): WeirError {
  const message = `${messageOf(failure)}; recovery is suppressed by ${strategy.description}: ${reason}`;
  return new WeirError('RESTART_SUPPRESSED', message, { cause: failure, recoverable: false });
}
