import { type AttemptNumber, type CheckpointId, type CoordinatorContext } from '@weir/core/contracts';
import type { Removal } from './cleaning.js';
import { encodeFinished } from './finished-marker.js';
import { warn, type CheckpointedJob } from './job.js';
import { removeCheckpoint } from './removal.js';
import { deletesAtEnd, type JobOutcome } from './retention.js';

/**
 * The end of a job: a finished one leaves its mark and nothing to resume; a stopped one its savepoint; for others the retention policy decides,
 * and `suspended` keeps all.
 * No attempt runs any more. Rejects if a finished job's mark cannot be made durable: its last checkpoint then stays and can be resumed.
 */
export async function endJob(job: CheckpointedJob, outcome: JobOutcome, attempt: AttemptNumber): Promise<void> {
  const { context, storage, lock, ledger, cleaner, shared, statistics } = job;
  try {
    shared.attemptsOver();
    await cleaner.idle();
    // The mark first: a crash in between leaves a finished job with too many files, never an unfinished one with too few.
    if (outcome === 'finished') {
      await lock?.verify();
      await storage.writeFinished(
        encodeFinished({
          job: context.job,
          lineage: ledger.lineage,
          attempt,
          checkpointId: ledger.newestId,
          finishedAt: context.clock.now(),
        }),
      );
    }
    if (deletesAtEnd(context.settings.retention, outcome)) {
      // A stopped job leaves the knowledge of its savepoint behind: whoever starts it again must not start over.
      const kept = outcome === 'stopped' ? ledger.newestId : keepUnpublished(job, outcome);
      const completed = ledger.clear().filter(({ id }) => id !== kept);
      // Shared files go last: one that cannot be removed is no reason for a checkpoint to stay.
      const postponed = cleaner.takePostponed().filter(({ what }) => what === undefined);
      const removals = completed.map((c) => ({ checkpointId: c.id, remove: () => removeCheckpoint(job, c) }));
      await removeAll(job, [...postponed, ...removals], outcome);
    }
    if (outcome !== 'suspended') await removeShared(job);
  } finally {
    statistics.close();
    await lock?.release();
    await storage.close();
  }
}

/** The newest checkpoint holds all prepared output that is not published: deleting it would lose what a complete checkpoint covers. */
function keepUnpublished(
  { context, ledger, unpublished }: CheckpointedJob,
  outcome: JobOutcome,
): CheckpointId | undefined {
  const { newestId } = ledger;
  if (outcome === 'finished' || !unpublished.has(newestId)) return undefined;
  warn(
    context,
    `Job ${context.job} ended before all output of checkpoint ${String(newestId)} was published. The checkpoint is kept: ` +
      'start the job again to publish it.',
  );
  return newestId;
}

/** Oldest first and no further than the first that stays: an older checkpoint that outlived a newer one would pass for the newest. */
async function removeAll(job: CheckpointedJob, removals: readonly Removal[], outcome: JobOutcome): Promise<void> {
  for (const removal of removals.toSorted((a, b) => a.checkpointId - b.checkpointId)) {
    try {
      await job.lock?.verify();
      await removal.remove();
    } catch (error) {
      warn(job.context, leftBehind(job.context, removal), error);
      // A finished job's mark says that none of them is to be restored, so the rest can go.
      // Those of a stopped one are all older than what stays.
      if (outcome !== 'finished' && outcome !== 'stopped') return;
    }
  }
}

/** What the last attempt might have needed, and no checkpoint does. */
async function removeShared({ context, lock, shared }: CheckpointedJob): Promise<void> {
  if (!shared.hasUnused()) return;
  try {
    await lock?.verify();
    await shared.deleteUnused();
  } catch (error) {
    warn(
      context,
      `Shared files of job ${context.job} that no checkpoint uses could not be removed; they stay behind.`,
      error,
    );
  }
}

function leftBehind({ job }: CoordinatorContext, { checkpointId }: Removal): string {
  return `Files of checkpoint ${String(checkpointId)} of job ${job} could not be removed; they stay behind.`;
}
