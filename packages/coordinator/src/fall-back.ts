import {
  encodeReference,
  isWeirError,
  referenceTo,
  type CheckpointLocation,
  type CheckpointMetadata,
  type JobStorage,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import type { Remains } from './give-up.js';
import type { CheckpointedJob } from './job.js';
import type { PendingCheckpoint } from './pending-checkpoint.js';

/** What the job restores to be back at this checkpoint; undefined for a savepoint that stays out of that. */
export async function fallBackTo(
  pending: PendingCheckpoint,
  { pointer }: CheckpointLocation,
  metadata: CheckpointMetadata,
  { context, storage, lock, cleaner, ledger }: CheckpointedJob,
): Promise<StoredCheckpoint | undefined> {
  const { id, savepoint } = pending;
  if (savepoint === undefined) return { id, pointer, complete: true };
  // One that a checkpoint has overtaken is behind what was committed: the job must not fall back to it.
  const isCandidate = !context.settings.preferCheckpointForRecovery && id > ledger.newestId;
  if (savepoint.stop === undefined && !isCandidate) return undefined;
  await lock?.verify();
  const own = await storage.create(id);
  const reference = { id, pointer: own.pointer, complete: true };
  const removal = { checkpointId: id, remove: () => storage.delete(reference) };
  try {
    // Nobody waits for it any more, or wants it.
    if (!pending.isPublishing()) throw new Error('the savepoint was given up');
    await own.publish(encodeReference(referenceTo(metadata, pointer)));
  } catch (error) {
    if ((await remainsIn(own, storage)) === 'keep') cleaner.postpone(removal);
    else cleaner.clean({ checkpointId: id, remove: () => own.discard() });
    throw error;
  }
  if (pending.isPublishing() && id > ledger.newestId) return reference;
  cleaner.postpone(removal);
  if (savepoint.stop === undefined) return undefined;
  throw new Error('a newer checkpoint completed first');
}

/** Never delete what may be complete: if it cannot be seen that `_metadata` is missing, it has to be taken for present. */
export async function remainsOf(
  location: CheckpointLocation,
  { savepoint }: PendingCheckpoint,
  storage: JobStorage,
): Promise<Remains> {
  if (savepoint === undefined) return remainsIn(location, storage);
  try {
    await storage.resolve(location.pointer);
    return 'keep';
  } catch (error) {
    return isWeirError(error, 'CHECKPOINT_NONE') ? 'remove' : 'keep';
  }
}

async function remainsIn(location: CheckpointLocation, storage: JobStorage): Promise<Remains> {
  try {
    const found = (await storage.list()).find((stored) => stored.id === location.id);
    return found?.complete === true ? 'keep' : 'remove';
  } catch {
    return 'keep';
  }
}
