import type { AbortReason, CoordinatorContext, WeirError } from '@weir/core/contracts';
import { ABORTS, checkpointFailed } from './abort.js';
import type { FailureVerdict } from './failure-counter.js';
import { warn, type CheckpointedJob } from './job.js';
import type { PendingCheckpoint } from './pending-checkpoint.js';
import { removalOf } from './removal.js';
import type { StatisticsRecorder } from './statistics.js';
import { isSavepoint, type CheckpointRequest } from './trigger.js';

/** `keep`: it is not known whether `_metadata` was written, so the files may be those of a complete checkpoint. */
export type Remains = 'remove' | 'keep';

/**
 * A pending checkpoint will not complete: its memory and files go, and the failure is counted and told
 * (Flink: CheckpointCoordinator.abortPendingCheckpoint). What may be complete on disk is removed only after a newer one is; until then a new
 * process may restore it, which is sound, because nothing it covers was committed. `publication`: the storage has been asked to publish it, and has
 * not answered.
 */
export function giveUpCheckpoint(
  pending: PendingCheckpoint,
  reason: AbortReason,
  error: unknown,
  { remains, publication }: { readonly remains: Remains; readonly publication: Promise<unknown> | undefined },
  job: CheckpointedJob,
): { readonly failure: WeirError; readonly verdict: FailureVerdict } {
  const { context, cleaner, failures, ledger, shared, statistics } = job;
  const { id, location } = pending;
  const concernsJob = countsForJob(pending, reason);
  pending.phase = 'aborted';
  pending.release();
  ledger.stamp(context.clock.monotonic());
  if (location !== undefined && remains === 'remove') {
    cleaner.clean({ checkpointId: id, remove: () => location.discard() });
  } else if (location !== undefined && pending.savepoint !== undefined) {
    warn(context, `Savepoint ${String(id)} may be complete all the same. It is yours, and stays: ${location.pointer}`);
  } else if (location !== undefined) {
    const left = { id, pointer: location.pointer, complete: true };
    shared.mayBeComplete(left);
    const remove = (): void => {
      cleaner.postpone(removalOf(job, left));
    };
    // While it may still be put there, it cannot be taken away.
    if (publication === undefined) remove();
    else publication.then(remove, remove);
  }
  const failure = checkpointFailed(context.job, id, reason, error, whatIs(pending.trigger));
  const verdict = concernsJob ? failures.failed(reason, id) : 'ignored';
  const counted = verdict !== 'ignored';
  statistics.failed(id, reason, failure.message);
  context.logger.debug({ checkpointId: id, reason, err: error }, failure.message);
  context.emit({ kind: 'checkpoint-aborted', checkpointId: id, reason, message: failure.message, counted });
  return { failure, verdict };
}

/** A request that never became a checkpoint. Of one that only the schedule made, nobody needs to hear. */
export function refuseRequest(
  trigger: CheckpointRequest['trigger'],
  reason: AbortReason,
  context: CoordinatorContext,
  statistics: StatisticsRecorder,
): WeirError {
  const failure = checkpointFailed(context.job, undefined, reason, undefined, whatIs(trigger));
  context.logger.debug({ reason, trigger }, failure.message);
  if (trigger !== 'periodic') {
    statistics.failed(undefined, reason, failure.message);
    const counted = ABORTS[reason].counts && whatIs(trigger) === 'checkpoint';
    context.emit({ kind: 'checkpoint-aborted', checkpointId: undefined, reason, message: failure.message, counted });
  }
  return failure;
}

/**
 * A savepoint that fails for no fault of a subtask is its caller's affair alone, and so is one to stop with: without it the job goes on
 * (Flink: CheckpointFailureManager, which fails the job for the latter, because its subtasks stand still).
 */
function countsForJob({ savepoint, phase }: PendingCheckpoint, reason: AbortReason): boolean {
  if (savepoint === undefined) return true;
  if (savepoint.stop !== undefined) return false;
  switch (reason) {
    case 'CHECKPOINT_DECLINED':
    case 'CHECKPOINT_ASYNC_EXCEPTION':
      return true;
    case 'IO_EXCEPTION':
      // Before that nothing was asked of subtasks.
      return phase === 'collecting';
    default:
      return false;
  }
}

function whatIs(trigger: CheckpointRequest['trigger']): 'checkpoint' | 'savepoint' {
  return isSavepoint({ trigger }) ? 'savepoint' : 'checkpoint';
}
