import type { AttemptNumber, CheckpointId, OperatorUid, SubtaskId } from '../element/ids.js';

export type JobStatus =
  | 'created'
  | 'starting'
  | 'restoring'
  | 'running'
  | 'finishing'
  | 'restarting'
  | 'cancelling'
  | 'finished'
  | 'failed'
  | 'cancelled'
  | 'stopped';

/** How a job ended, as `JobHandle.done` says it. */
export type JobEnding =
  { readonly kind: 'finished' | 'cancelled' | 'stopped' } | { readonly kind: 'failed'; readonly error: unknown };

/** Why a checkpoint was aborted or refused (Flink: CheckpointFailureReason). Which of them count as failures is decided in the coordinator. */
export type AbortReason =
  | 'PERIODIC_SCHEDULER_SHUTDOWN'
  | 'TOO_MANY_CHECKPOINT_REQUESTS'
  | 'MINIMUM_TIME_BETWEEN_CHECKPOINTS'
  | 'NOT_ALL_REQUIRED_TASKS_RUNNING'
  | 'IO_EXCEPTION'
  | 'CHECKPOINT_ASYNC_EXCEPTION'
  | 'CHECKPOINT_DECLINED'
  | 'CHECKPOINT_DECLINED_TASK_NOT_READY'
  | 'CHECKPOINT_DECLINED_TASK_CLOSING'
  | 'CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER'
  | 'CHECKPOINT_DECLINED_SUBSUMED'
  | 'CHECKPOINT_DECLINED_INPUT_END_OF_STREAM'
  | 'CHECKPOINT_EXPIRED'
  | 'CHECKPOINT_SUBSUMED'
  | 'CHECKPOINT_COORDINATOR_SUSPEND'
  | 'CHECKPOINT_COORDINATOR_SHUTDOWN'
  | 'FINALIZE_CHECKPOINT_FAILURE'
  | 'TRIGGER_CHECKPOINT_FAILURE'
  | 'TASK_FAILURE';

/** Who wanted it: the schedule, a user, the end of all data; or it is a savepoint, or one to stop with. */
export type CheckpointTrigger = 'periodic' | 'manual' | 'final' | 'savepoint' | 'stop';

export interface CheckpointStats {
  readonly checkpointId: CheckpointId;
  readonly trigger: CheckpointTrigger;
  readonly triggeredAt: number;
  readonly completedAt: number;
  readonly durationMs: number;
  /** Bytes of state that it consists of, inline ones included. */
  readonly stateBytes: number;
  /** Of these, what was written for it: the rest is what it has in common with earlier checkpoints. */
  readonly writtenBytes: number;
  /** Longest alignment of a subtask. */
  readonly alignmentMs: number;
  /** Records that are part of it because barriers have overtaken them, or because they went round a loop. */
  readonly inFlightRecords: number;
  readonly pointer: string;
}

/** What happens to a job, in order. Times are epoch ms. */
export type JobEvent = { readonly at: number } & (
  | { readonly kind: 'status'; readonly status: JobStatus }
  | {
      readonly kind: 'attempt-started';
      readonly attempt: AttemptNumber;
      readonly restoredCheckpoint: CheckpointId | undefined;
    }
  | { readonly kind: 'fresh-start'; readonly reason: string }
  | {
      readonly kind: 'restored';
      readonly checkpointId: CheckpointId;
      readonly pointer: string;
      readonly attempt: AttemptNumber;
    }
  /** With local recovery: so many bytes of keyed state came from local copies, so many from the checkpoint storage. */
  | {
      readonly kind: 'state-read';
      readonly checkpointId: CheckpointId;
      readonly attempt: AttemptNumber;
      readonly localBytes: number;
      readonly remoteBytes: number;
    }
  | {
      readonly kind: 'checkpoint-triggered';
      readonly checkpointId: CheckpointId;
      readonly trigger: CheckpointTrigger;
    }
  | {
      readonly kind: 'checkpoint-acked';
      readonly checkpointId: CheckpointId;
      readonly subtask: SubtaskId;
      readonly stateBytes: number;
    }
  | ({ readonly kind: 'checkpoint-completed' } & CheckpointStats)
  | {
      readonly kind: 'checkpoint-aborted';
      /** Absent when the request failed before it had an id. */
      readonly checkpointId: CheckpointId | undefined;
      readonly reason: AbortReason;
      readonly message: string;
      readonly counted: boolean;
    }
  | { readonly kind: 'committed'; readonly checkpointId: CheckpointId; readonly committables: number }
  /** Output that was prepared in another place than the sink has now: it is not committed here, and nothing is done about it there. */
  | {
      readonly kind: 'output-left';
      readonly sink: OperatorUid;
      readonly destination: string;
      readonly committables: number;
      readonly checkpointId: CheckpointId;
    }
  /** A committer asked for another try; told each time. */
  | {
      readonly kind: 'commit-retry';
      readonly sink: OperatorUid;
      readonly subtask: number;
      readonly committables: number;
      readonly tries: number;
      readonly delayMs: number;
      readonly error: unknown;
    }
  /** It was past its end, that is covered by a completed checkpoint, and its output is committed: it takes part in nothing any more. */
  | { readonly kind: 'subtask-finished'; readonly attempt: AttemptNumber; readonly subtask: SubtaskId }
  | { readonly kind: 'failure'; readonly attempt: AttemptNumber; readonly error: unknown }
  /** The third failure, or a later one, between which no checkpoint has completed: restarts have led nowhere so far. */
  | {
      readonly kind: 'failure-repeated';
      readonly attempt: AttemptNumber;
      readonly inARow: number;
      readonly error: unknown;
      readonly message: string;
    }
  | { readonly kind: 'restart'; readonly attempt: AttemptNumber; readonly delayMs: number; readonly restarts: number }
  /** A plugin has not answered a call for so long; it is given up once `timeoutMs` have passed (see docs/timeouts.md). `of`: whose call it is. */
  | {
      readonly kind: 'call-stalled';
      readonly call: string;
      readonly of: string;
      readonly waitedMs: number;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'warning'; readonly message: string }
);
/** An event before the engine stamps its time. */
export type JobEventBody = JobEvent extends infer E ? (E extends JobEvent ? Omit<E, 'at'> : never) : never;
