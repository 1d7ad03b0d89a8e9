import type { CheckpointCoordinator, CheckpointId, RetentionPolicy, StoredCheckpoint } from '@weir/core/contracts';

/** A checkpoint the job can fall back to. */
export interface CompletedCheckpoint {
  /** As its metadata says; the folder of a user's checkpoint may have any name. */
  readonly checkpointId: CheckpointId;
  readonly stored: StoredCheckpoint;
  /** The files of a user's checkpoint (one that was restored by its path) are never deleted. */
  readonly owner: 'job' | 'user';
  /** It lies in another directory than the job's, whose it is all the same. */
  readonly isElsewhere?: boolean | undefined;
}

/**
 * Which completed checkpoints are still needed once there are more than `numRetained`, oldest first in and out (Flink: CheckpointSubsumeHelper).
 * The newest always stays, and so does the newest of the job's own, so more than `numRetained` may remain. The newest may be there twice: as a
 * savepoint, and as the reference by which the next process finds it.
 */
export function subsume(
  completed: readonly CompletedCheckpoint[],
  numRetained: number,
): { readonly retained: readonly CompletedCheckpoint[]; readonly subsumed: readonly CompletedCheckpoint[] } {
  const newest = completed.at(-1);
  const newestOwn = completed.findLast((c) => c.owner === 'job');
  const retained: CompletedCheckpoint[] = [];
  const subsumed: CompletedCheckpoint[] = [];
  for (const c of completed) {
    const isSurplus = completed.length - subsumed.length > numRetained;
    const isNeeded = c === newestOwn || c.checkpointId === newest?.checkpointId;
    (isSurplus && !isNeeded ? subsumed : retained).push(c);
  }
  return { retained, subsumed };
}

export type JobOutcome = Parameters<CheckpointCoordinator['end']>[0];

/** Whether the job's own checkpoints are deleted when it ends (Flink: CheckpointProperties, where a stopped job has finished; suspending keeps all here, as a crash would). */
export function deletesAtEnd(policy: RetentionPolicy, outcome: JobOutcome): boolean {
  switch (outcome) {
    case 'finished':
    case 'stopped':
      return true;
    case 'suspended':
      return false;
    case 'cancelled':
      return policy !== 'retain-on-cancellation';
    case 'failed':
      return policy === 'no-externalized';
  }
}
