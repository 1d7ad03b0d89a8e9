import {
  betweenParts,
  encodeMetadata,
  isWeirError,
  type AbortReason,
  type CheckpointId,
  type CheckpointLocation,
  type CheckpointMetadata,
  type CheckpointStats,
  type PlanDescription,
  type RestoredFrom,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { committablesOf, statsOf } from './checkpoint-stats.js';
import { commit, type CommittingAttempt } from './commit.js';
import { describeCheckpoint } from './describe.js';
import { fallBackTo, remainsOf } from './fall-back.js';
import type { Remains } from './give-up.js';
import { fenced, type CheckpointedJob } from './job.js';
import type { PendingCheckpoint } from './pending-checkpoint.js';
import { cleanShared, removalOf } from './removal.js';
import { partlyFinishedUnions } from './union-state.js';

/** What a caller learns: the checkpoint is durable now, and `committed` settles when its output is visible (or rejects if the attempt ends first). */
export interface Completion {
  readonly stats: CheckpointStats;
  readonly committed: Promise<void>;
}

const NONE: ReadonlySet<string> = new Set();

/** What completing needs of the running attempt. */
export interface CompletingAttempt extends CommittingAttempt {
  readonly restoredFrom: RestoredFrom | undefined;
  /** As it runs. */
  readonly plan: PlanDescription;
  giveUp(pending: PendingCheckpoint, reason: AbortReason, error: unknown, remains?: Remains): void;
  answer(pending: PendingCheckpoint, completion: Completion): void;
  abortOlder(than: CheckpointId): void;
  fail(error: Error): void;
}

/**
 * The completion order (Flink: CheckpointCoordinator.completePendingCheckpoint). A crash between any two steps loses nothing and repeats nothing:
 * until 3 the checkpoint does not exist, from 3 on the next process restores it and commits what it holds. A savepoint that the job does not fall
 * back to ends with 3: it is committed by the checkpoint after it. One that it does fall back to is known to the next process from 4 on.
 * It may be given up at any await, where the storage does not answer in time: then nothing of it happens any more.
 */
export async function complete(
  pending: PendingCheckpoint,
  location: CheckpointLocation,
  attempt: CompletingAttempt,
  job: CheckpointedJob,
): Promise<void> {
  const { context, ledger, shared, statistics, cleaner } = job;
  const written = location.sharedFiles ?? NONE;
  pending.phase = 'publishing';
  // Whoever has given it up while the storage did not answer has told everybody.
  const giveUp = (reason: AbortReason, error: unknown, remains?: Remains): void => {
    if (pending.isPublishing()) attempt.giveUp(pending, reason, error, remains);
  };
  // First, so that nothing that follows from it passes for the reason.
  const failIfFenced = (error: unknown): void => {
    if (isWeirError(error, 'STORAGE_FENCED')) attempt.fail(fenced(context, attempt.gateway.attempt, error));
  };

  const unions = partlyFinishedUnions(attempt.plan, pending);
  if (unions.length > 0) {
    const error = new Error(
      `some subtasks of ${unions.join(', ')}, whose state is for every subtask, have finished and others have not`,
    );
    giveUp('CHECKPOINT_DECLINED_TASK_CLOSING', error);
    return;
  }

  // 1. Every part is durable since it was acknowledged. The record that makes them a checkpoint names each of them.
  let metadata: CheckpointMetadata;
  let bytes: Uint8Array;
  try {
    const described = describeCheckpoint(context, pending, {
      plan: attempt.plan,
      lineage: ledger.lineage,
      attempt: attempt.gateway.attempt,
      restoredFrom: attempt.restoredFrom,
      keptForUser: ledger.keptForUser,
    });
    // Files that it has in common with others are kept for it from here on, whether or not it will need them.
    metadata = shared.register(described, written);
    await betweenParts(context.clock, metadata.operators.length);
    bytes = encodeMetadata(metadata);
    // 2. Only who still holds the right to write may publish: this process, and this attempt.
    await job.lock?.verify();
    attempt.signal.throwIfAborted();
  } catch (error) {
    failIfFenced(error);
    const reason = attempt.signal.aborted ? 'CHECKPOINT_COORDINATOR_SUSPEND' : 'FINALIZE_CHECKPOINT_FAILURE';
    giveUp(reason, error);
    return;
  }
  if (!pending.isPublishing()) return;

  // 3. Complete and durable, or not there. An attempt that ends meanwhile does not take it back.
  pending.isHandedOver = true;
  try {
    await location.publish(bytes);
  } catch (error) {
    // Without an error it would look as if nothing had been thrown.
    const thrown = error === undefined ? new Error('undefined was thrown') : error;
    giveUp('FINALIZE_CHECKPOINT_FAILURE', thrown, await remainsOf(location, pending, job.storage));
    return;
  }
  if (!pending.isPublishing()) return;

  // 4. A savepoint lies where only the user knows. If the job is to fall back to it, its own directory has to say where that is.
  let fallBack: StoredCheckpoint | undefined;
  try {
    fallBack = await fallBackTo(pending, location, metadata, job);
  } catch (error) {
    failIfFenced(error);
    giveUp('FINALIZE_CHECKPOINT_FAILURE', error, 'keep');
    return;
  }
  if (!pending.isPublishing()) return;
  // A savepoint that is complete may have passed it by: the job does not go back behind what it has committed.
  if (fallBack !== undefined && fallBack.id < ledger.newestId) {
    giveUp('CHECKPOINT_SUBSUMED', undefined, 'keep');
    return;
  }

  // Steps 5 to 9 are one synchronous step: a decision taken in between would see half of it.
  // 5. It is what the job falls back to from now on; older ones are superfluous, but still there.
  pending.phase = 'completed';
  ledger.stamp(context.clock.monotonic());
  if (fallBack !== undefined) ledger.add(fallBack);
  if (pending.savepoint === undefined) shared.completed(location, metadata, written);
  const superfluous = fallBack === undefined ? [] : ledger.subsume();
  const stats = statsOf(pending, location, context.clock);
  const committables = committablesOf(pending);
  pending.release();

  // 6. A row of failures ends here.
  job.failures.succeeded(pending.id);
  statistics.completed(stats);
  context.emit({ kind: 'checkpoint-completed', ...stats });

  if (fallBack === undefined) {
    attempt.gateway.released(pending.id);
    attempt.answer(pending, { stats, committed: Promise.resolve() });
    return;
  }

  // 7. Older checkpoints that are still pending have nothing left to add.
  attempt.abortOlder(pending.id);

  // 8. Subtasks are told, and commit what the checkpoint covers. That may take long, and the next checkpoint does not wait for it.
  if (committables > 0) job.unpublished.add(pending.id);
  const committed = commit({ id: pending.id, location, metadata, committables }, attempt, job);

  // 9. The caller has waited for durability, not for commits.
  attempt.answer(pending, { stats, committed });

  // 10. Only when that output is visible are older files removed, so that no commit ever depends on a single copy of what it needs.
  committed.then(
    () => {
      // Of a savepoint nothing is ever made.
      if (pending.savepoint === undefined) shared.acknowledged(pending.id);
    },
    () => undefined,
  );
  for (const old of superfluous) cleaner.cleanAfter(committed, removalOf(job, old));
  committed.then(
    () => {
      for (const id of job.unpublished) if (id <= pending.id) job.unpublished.delete(id);
      cleaner.retryBelow(pending.id);
      cleanShared(job, pending.id);
    },
    (error: unknown) => {
      // The end of the attempt is the ordinary reason: the next one restores the checkpoint and commits what it holds.
      context.logger.debug({ checkpointId: pending.id, err: error }, 'not all output of the checkpoint was committed');
    },
  );
}
