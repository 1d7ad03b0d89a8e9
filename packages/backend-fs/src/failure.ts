import { WeirError, isWeirError, messageOf, type CheckpointId, type JobName } from '@weir/core/contracts';

/** Any failure of the file system as STORAGE_FAILED; `doing` is what was tried ("Publishing checkpoint 7 of job orders"). */
export function storageFailed(doing: string, cause: unknown): WeirError {
  return isWeirError(cause)
    ? cause
    : new WeirError('STORAGE_FAILED', `${doing} failed: ${messageOf(cause)}`, { cause });
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && codes.includes(code);
}

/** A checkpoint in a message. A folder that a user has renamed does not tell its id: 0. */
export function nameOf(checkpointId: CheckpointId, job: JobName): string {
  return checkpointId === 0 ? `the checkpoint for job ${job}` : `checkpoint ${String(checkpointId)} of job ${job}`;
}
