import type { AbortReason, CoordinatorContext, WeirError } from '@weir/core/contracts';
import { ABORTS, checkpointFailed } from './abort.js';
import type { FailureVerdict } from './failure-counter.js';
import type { CheckpointedJob } from './job.js';
import type { PendingCheckpoint } from './pending-checkpoint.js';
import type { StatisticsRecorder } from './statistics.js';
import type { CheckpointRequest } from './trigger.js';

/** `keep`: it is not known whether `_metadata` was written, so the files may be those of a complete checkpoint. */
export type Remains = 'remove' | 'keep';

/**
 * A pending checkpoint will not complete: its memory and files go, and the failure is counted and told
 * (Flink: CheckpointCoordinator.abortPendingCheckpoint). What may be complete on disk is removed only after a newer one is; until then a new
 * process may restore it, which is sound, because nothing it covers was committed.
 */
export function giveUpCheckpoint(
  pending: PendingCheckpoint,
  reason: AbortReason,
  error: unknown,
  remains: Remains,
  job: CheckpointedJob,
): { readonly failure: WeirError; readonly verdict: FailureVerdict } {
  const { context, storage, cleaner, failures, statistics } = job;
  const { id, location } = pending;
  pending.phase = 'aborted';
  pending.release();
  if (location !== undefined && remains === 'remove') {
    cleaner.clean({ checkpointId: id, remove: () => location.discard() });
  } else if (location !== undefined) {
    const left = { id, pointer: location.pointer, complete: true };
    cleaner.postpone({ checkpointId: id, remove: () => storage.delete(left) });
  }
  const failure = checkpointFailed(context.job, id, reason, error);
  const verdict = failures.failed(reason, id);
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
  const failure = checkpointFailed(context.job, undefined, reason);
  context.logger.debug({ reason, trigger }, failure.message);
  if (trigger !== 'periodic') {
    statistics.failed(undefined, reason, failure.message);
    const { counts: counted } = ABORTS[reason];
    context.emit({ kind: 'checkpoint-aborted', checkpointId: undefined, reason, message: failure.message, counted });
  }
  return failure;
}
