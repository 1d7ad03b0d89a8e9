import { isWeirError, messageOf, WeirError } from '../errors.js';
import type { OperatorContext } from './operator.js';

/** What user code threw, with the operator's name on it; weir's own errors pass as they are. */
export function operatorFailure(context: Pick<OperatorContext, 'uid' | 'job' | 'subtask'>, error: unknown): WeirError {
  if (isWeirError(error)) return error;
  return new WeirError(
    'OPERATOR_FAILED',
    `Operator ${context.uid} of job ${context.job} (subtask ${String(context.subtask)}) failed: ${messageOf(error)}`,
    { cause: error },
  );
}
