import type { CheckpointId } from '@weir/core/contracts';

/**
 * The id of the next checkpoint: above the restored one, above everything in the directory (complete or not, of whatever lineage), and above
 * every checkpoint that a restored committable was made for. Only an id of which nothing is left can come again, in a later attempt.
 */
export function nextCheckpointId(seen: {
  readonly restored: CheckpointId | undefined;
  readonly present: readonly CheckpointId[];
  readonly committables: readonly CheckpointId[];
}): CheckpointId {
  return 1 + [...seen.present, ...seen.committables].reduce((a, b) => Math.max(a, b), seen.restored ?? 0);
}
