import {
  WeirError,
  isIoFailure,
  messageOf,
  type AbortReason,
  type CheckpointId,
  type JobName,
} from '@weir/core/contracts';

/** What follows from a reason (Flink: CheckpointFailureReason, CheckpointFailureManager). */
export interface AbortKind {
  /** Adds one to the consecutive failures that `tolerableFailures` bounds. */
  readonly counts: boolean;
  /** No subtask has seen the checkpoint yet. */
  readonly preFlight: boolean;
  readonly text: string;
}

export const ABORTS: Readonly<Record<AbortReason, AbortKind>> = {
  PERIODIC_SCHEDULER_SHUTDOWN: { counts: false, preFlight: true, text: 'periodic checkpoints were stopped' },
  TOO_MANY_CHECKPOINT_REQUESTS: { counts: false, preFlight: true, text: 'the queue of requests is full' },
  MINIMUM_TIME_BETWEEN_CHECKPOINTS: { counts: false, preFlight: true, text: 'the minimum pause has not passed' },
  NOT_ALL_REQUIRED_TASKS_RUNNING: { counts: false, preFlight: true, text: 'not all subtasks run' },
  IO_EXCEPTION: { counts: true, preFlight: true, text: 'the storage failed' },
  CHECKPOINT_ASYNC_EXCEPTION: { counts: true, preFlight: false, text: 'a subtask could not write its part' },
  CHECKPOINT_DECLINED: { counts: true, preFlight: false, text: 'a subtask declined it' },
  CHECKPOINT_DECLINED_TASK_NOT_READY: { counts: false, preFlight: false, text: 'a subtask was not ready' },
  CHECKPOINT_DECLINED_TASK_CLOSING: { counts: false, preFlight: false, text: 'a subtask was closing' },
  CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER: { counts: false, preFlight: false, text: 'a cancel marker arrived' },
  CHECKPOINT_DECLINED_SUBSUMED: { counts: false, preFlight: false, text: 'a newer barrier overtook it' },
  CHECKPOINT_DECLINED_INPUT_END_OF_STREAM: { counts: false, preFlight: false, text: 'an input ended' },
  CHECKPOINT_EXPIRED: { counts: true, preFlight: false, text: 'it did not complete within the timeout' },
  CHECKPOINT_SUBSUMED: { counts: false, preFlight: false, text: 'a newer checkpoint completed first' },
  CHECKPOINT_COORDINATOR_SUSPEND: { counts: false, preFlight: false, text: 'the attempt ended' },
  CHECKPOINT_COORDINATOR_SHUTDOWN: { counts: false, preFlight: false, text: 'the job is over' },
  FINALIZE_CHECKPOINT_FAILURE: { counts: true, preFlight: false, text: 'its metadata could not be made durable' },
  TRIGGER_CHECKPOINT_FAILURE: { counts: false, preFlight: false, text: 'it could not be started' },
  TASK_FAILURE: { counts: false, preFlight: false, text: 'a subtask failed' },
};

/** The reason for an error while a checkpoint is set up: an I/O error anywhere in the chain of causes wins over `otherwise`. */
export function reasonOf(error: unknown, otherwise: AbortReason): AbortReason {
  return isIoFailure(error) ? 'IO_EXCEPTION' : otherwise;
}

/** What the caller of an aborted or refused checkpoint gets. */
export function checkpointFailed(
  job: JobName,
  checkpointId: CheckpointId | undefined,
  reason: AbortReason,
  cause?: unknown,
  what: 'checkpoint' | 'savepoint' = 'checkpoint',
): WeirError {
  const kind = ABORTS[reason];
  const name = what === 'checkpoint' ? 'Checkpoint' : 'Savepoint';
  const which = checkpointId === undefined ? `A ${what}` : `${name} ${String(checkpointId)}`;
  const fate = checkpointId === undefined && kind.preFlight ? 'was refused' : 'was aborted';
  const why = cause === undefined ? '' : ` (${messageOf(cause)})`;
  return new WeirError('CHECKPOINT_FAILED', `${which} of job ${job} ${fate}: ${reason}, ${kind.text}${why}.`, {
    cause,
  });
}
