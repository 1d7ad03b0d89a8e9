import {
  hasCode,
  WeirError,
  classifyFailure,
  isWeirError,
  messageOf,
  type CheckpointId,
  type JobName,
} from '@weir/core/contracts';

/** Any failure of the file system as STORAGE_FAILED; `doing` is what was tried ("Publishing checkpoint 7 of job orders"). */
export function storageFailed(doing: string, cause: unknown): WeirError {
  return isWeirError(cause)
    ? cause
    : new WeirError('STORAGE_FAILED', `${doing} failed: ${messageOf(cause)}`, { cause });
}

/**
 * What was written could not be read, and `fault` says how ("/cp/orders/chk-7/_metadata of checkpoint 7 of job orders cannot be read"):
 * STORAGE_FAILED if it may be read later, otherwise CHECKPOINT_UNREADABLE, which says what `todo`.
 */
export function readFailed(fault: string, cause: unknown, todo = 'Restore from another checkpoint'): WeirError {
  if (isWeirError(cause)) return cause;
  const message = `${fault}: ${messageOf(cause)}.`;
  if (classifyFailure(cause) === 'transient') return new WeirError('STORAGE_FAILED', message, { cause });
  const advice = hasCode(cause, 'EACCES', 'EPERM') ? 'Give this process the right to read it' : todo;
  return new WeirError('CHECKPOINT_UNREADABLE', `${message} ${advice}.`, { cause, recoverable: false });
}

/** A checkpoint in a message. A folder that a user has renamed does not tell its id: 0. */
export function nameOf(checkpointId: CheckpointId, job: JobName): string {
  return checkpointId === 0 ? `the checkpoint for job ${job}` : `checkpoint ${String(checkpointId)} of job ${job}`;
}
