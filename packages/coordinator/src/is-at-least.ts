import type { CheckpointIdentity } from '@weir/core/contracts';

/** Whether all that `b` covers is covered by `a`, too. Attempts of one lineage follow each other, and so do the checkpoints of an attempt. */
export function isAtLeast(a: CheckpointIdentity, b: CheckpointIdentity): boolean {
  if (a.lineage !== b.lineage) return false;
  return a.attempt === b.attempt
    ? a.checkpointId >= b.checkpointId
    : a.attempt > b.attempt && a.checkpointId > b.checkpointId;
}
