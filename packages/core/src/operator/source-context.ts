import type { SourceContext, SourceSplit } from '../contracts/source.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';
import type { OperatorContext } from './operator.js';

/** What an enumerator is told of the job around it. */
export function sourceContext(context: OperatorContext): SourceContext {
  const { job, uid, attempt, parallelism, clock, random, logger, metrics, signal } = context;
  return { job, uid, attempt, parallelism, clock, random, logger, metrics, signal };
}

/** What a source threw, with its name on it. */
export function sourceFailure({ uid, job }: SourceContext, split: SourceSplit | undefined, error: unknown): WeirError {
  if (isWeirError(error)) return error;
  const what = split === undefined ? '' : `, split ${split.id},`;
  return new WeirError('SOURCE_FAILED', `Source ${uid} of job ${job}${what} could not be read: ${messageOf(error)}`, {
    cause: error,
  });
}

/** What a source did against its contract, with its name on it. A restart does not help. */
export function sourceViolation(
  { uid, job }: SourceContext,
  split: SourceSplit | undefined,
  what: string,
  cause?: unknown,
): WeirError {
  const where = split === undefined ? '' : `, split ${split.id}`;
  return new WeirError('PROTOCOL_VIOLATION', `Source ${uid} of job ${job}${where}: ${what}.`, {
    cause,
    recoverable: false,
  });
}
