import type { StoredCheckpoint } from '@weir/core/contracts';
import type { Removal } from './cleaning.js';
import type { CheckpointedJob } from './job.js';

/** A checkpoint that is superfluous goes, and with it what only it was made of: `_metadata` first, so that no file is missing of one that looks complete. */
export function removalOf(
  job: Pick<CheckpointedJob, 'storage' | 'shared' | 'cleaner'>,
  stored: StoredCheckpoint,
): Removal {
  return {
    checkpointId: stored.id,
    async remove() {
      await removeCheckpoint(job, stored);
      cleanShared(job, stored.id);
    },
  };
}

/** Leaves the files that it has in common with others, of which some may have become useless. */
export async function removeCheckpoint(
  { storage, shared }: Pick<CheckpointedJob, 'storage' | 'shared'>,
  stored: StoredCheckpoint,
): Promise<void> {
  await storage.delete(stored);
  shared.deleted(stored);
}

/** Deletes shared files that nobody uses although no checkpoint went, if there are any. */
export function cleanShared(
  { shared, cleaner }: Pick<CheckpointedJob, 'shared' | 'cleaner'>,
  checkpointId: number,
): void {
  if (!shared.hasUnused()) return;
  cleaner.clean({ checkpointId, what: 'Shared files that no checkpoint uses', remove: () => shared.deleteUnused() });
}
