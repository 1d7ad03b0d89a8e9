import type { CheckpointId } from '../element/ids.js';

/** Ids that are remembered at most (Flink: SubtaskCheckpointCoordinatorImpl, maxRecordAbortedCheckpoints). */
const REMEMBERED = 128;

// Checkpoints that were aborted before their first barrier came, ascending.

export function remember(aborted: readonly CheckpointId[], id: CheckpointId): readonly CheckpointId[] {
  if (aborted.includes(id)) return aborted;
  return [...aborted, id].sort((a, b) => a - b).slice(-REMEMBERED);
}

/** Also true far below the largest remembered id: whatever was forgotten must not be taken for alive. */
export function isAborted(aborted: readonly CheckpointId[], id: CheckpointId): boolean {
  return aborted.includes(id) || id + REMEMBERED < (aborted.at(-1) ?? 0);
}

/** What is still of use once `id` has begun. */
export function withoutUpTo(aborted: readonly CheckpointId[], id: CheckpointId): readonly CheckpointId[] {
  return aborted.length === 0 ? aborted : aborted.filter((a) => a > id);
}
