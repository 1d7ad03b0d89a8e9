import { type AttemptNumber, type CheckpointId, type CoordinatorContext } from '@weir/core/contracts';
import type { Removal } from './cleaning.js';
import { encodeFinished } from './finished-marker.js';
import { warn, type CheckpointedJob } from './job.js';
import { removeCheckpoint } from './removal.js';
import { letGoWhenAnswered } from './letting-go.js';
import { deletesAtEnd, type JobOutcome } from './retention.js';
import { within } from './within.js';

/** For how long the end of a job waits for one answer of the storage, and for everything that is to be removed. */
const ANSWER_MS = 10_000;
const CLEANING_MS = 60_000;

/**
 * The end of a job: a finished one leaves its mark and nothing to resume; a stopped one its savepoint; for others the retention policy decides,
 * and `suspended` keeps all.
 * No attempt runs any more. Rejects if a finished job's mark cannot be made durable: its last checkpoint then stays and can be resumed.
 */
export async function endJob(job: CheckpointedJob, outcome: JobOutcome, attempt: AttemptNumber): Promise<void> {
  const { context, storage, lock, ledger, cleaner, shared, statistics } = job;
  try {
    shared.attemptsOver();
    await within(context.clock, cleaner.idle(), ANSWER_MS);
    // What it publishes late has to be removed as well.
    await within(context.clock, job.unanswered.answered(), ANSWER_MS);
    const left = cleaner.stop();
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
          keptForUser: ledger.keptForUser,
        }),
      );
    }
    if (deletesAtEnd(context.settings.retention, outcome)) {
      // A stopped job leaves the knowledge of its savepoint behind: whoever starts it again must not start over.
      const kept = outcome === 'stopped' ? ledger.newestId : keepUnpublished(job, outcome);
      const completed = ledger.clear().filter(({ id }) => id !== kept);
      // Shared files go last: one that cannot be removed is no reason for a checkpoint to stay.
      const postponed = left.filter(({ what }) => what === undefined);
      const removals = completed.map((c) => ({ checkpointId: c.id, remove: () => removeCheckpoint(job, c) }));
      await removeAll(job, [...postponed, ...removals], outcome);
    }
    if (outcome !== 'suspended') await removeShared(job);
  } finally {
    statistics.close();
    await letGoWhenAnswered(job);
  }
}

/**
 * The newest checkpoint holds all prepared output that is not published: deleting it would lose what a complete checkpoint covers. Whoever cancels
 * a job does not want it any more; a failure is nobody's wish.
 */
function keepUnpublished(
  { context, ledger, unpublished }: CheckpointedJob,
  outcome: JobOutcome,
): CheckpointId | undefined {
  const { newestId } = ledger;
  if (outcome === 'finished' || !unpublished.has(newestId)) return undefined;
  if (outcome === 'cancelled') {
    const message = `Job ${context.job} was cancelled before all output of checkpoint ${String(newestId)} was published: it goes with the checkpoint.`;
    warn(context, message);
    return undefined;
  }
  warn(
    context,
    `Job ${context.job} ended before all output of checkpoint ${String(newestId)} was published. The checkpoint is kept: ` +
      'start the job again to publish it.',
  );
  return newestId;
}

/** Oldest first and no further than the first that stays: an older checkpoint that outlived a newer one would pass for the newest. */
async function removeAll(job: CheckpointedJob, removals: readonly Removal[], outcome: JobOutcome): Promise<void> {
  const { clock } = job.context;
  const end = clock.monotonic() + CLEANING_MS;
  for (const removal of removals.toSorted((a, b) => a.checkpointId - b.checkpointId)) {
    const isRemoved =
      clock.monotonic() < end && (await removed(job, () => removal.remove(), leftBehind(job.context, removal)));
    // A finished job's mark says that none of them is to be restored, so the rest can go.
    // Those of a stopped one are all older than what stays.
    if (!isRemoved && outcome !== 'finished' && outcome !== 'stopped') return;
  }
  if (clock.monotonic() >= end)
    warn(job.context, `Removing the checkpoints of job ${job.context.job} took too long; the rest stays behind.`);
}

/** Whether it was in time. */
async function removed(job: CheckpointedJob, remove: () => Promise<void>, otherwise: string): Promise<boolean> {
  const { context, lock, unanswered } = job;
  const call = (async () => {
    await lock?.verify();
    await remove();
  })();
  const outcome = await within(context.clock, call, ANSWER_MS);
  if (outcome.kind === 'settled') return true;
  if (outcome.kind === 'failed') warn(context, otherwise, outcome.error);
  else {
    unanswered.add(call);
    warn(context, `${otherwise} The storage has not answered for ${String(ANSWER_MS)} ms.`);
  }
  return false;
}

/** What the last attempt might have needed, and no checkpoint does. */
async function removeShared(job: CheckpointedJob): Promise<void> {
  const { context, shared } = job;
  if (!shared.hasUnused()) return;
  const message = `Shared files of job ${context.job} that no checkpoint uses could not be removed; they stay behind.`;
  await removed(job, () => shared.deleteUnused(), message);
}

function leftBehind({ job }: CoordinatorContext, { checkpointId }: Removal): string {
  return `Files of checkpoint ${String(checkpointId)} of job ${job} could not be removed; they stay behind.`;
}
