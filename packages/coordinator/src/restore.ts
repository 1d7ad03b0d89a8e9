import {
  WeirError,
  decodeMetadata,
  isWeirError,
  messageOf,
  type CheckpointMetadata,
  type CoordinatorContext,
  type JobStorage,
  type RestorePlan,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { assignState } from './compatibility.js';
import { choicesAmong } from './recovery-choice.js';

/** A checkpoint to restore, and what a user may choose instead should it turn out damaged. */
export interface Restorable {
  readonly stored: StoredCheckpoint;
  readonly others: readonly StoredCheckpoint[];
}

/** Reads `_metadata`. Damage is CHECKPOINT_UNREADABLE naming the others: never a silent fall-back to an older one, never a fresh start. */
export function readMetadata(
  { stored, others }: Restorable,
  storage: JobStorage,
  { job }: CoordinatorContext,
): Promise<CheckpointMetadata> {
  return namingOthers(job, stored, others, async () =>
    decodeMetadata(await storage.readMetadata(stored), stored.pointer),
  );
}

/** Who restores what. CHECKPOINT_INCOMPATIBLE if the checkpoint does not fit the plan. */
export function planRestore(
  { stored, others }: Restorable,
  metadata: CheckpointMetadata,
  storage: JobStorage,
  { job, plan }: CoordinatorContext,
): RestorePlan {
  return {
    checkpointId: metadata.checkpointId,
    pointer: stored.pointer,
    ...assignState(plan, metadata),
    read: (blob) => namingOthers(job, stored, others, () => storage.read(stored, blob)),
  };
}

async function namingOthers<T>(
  job: string,
  stored: StoredCheckpoint,
  others: readonly StoredCheckpoint[],
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isWeirError(error, 'CHECKPOINT_UNREADABLE')) throw error;
    throw new WeirError(
      'CHECKPOINT_UNREADABLE',
      `The checkpoint at ${stored.pointer} of job ${job} cannot be restored (${messageOf(error)}). ${choicesAmong(others)}`,
      { cause: error, recoverable: false },
    );
  }
}
