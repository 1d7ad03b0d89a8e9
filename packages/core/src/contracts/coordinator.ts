import type { Barrier } from '../element/element.js';
import type { AttemptNumber, CheckpointId, JobName, Lineage, OperatorUid, StageId, SubtaskId } from '../element/ids.js';
import type { CheckpointLocation, CheckpointStorage } from './checkpoint-storage.js';
import type { Clock, Random } from './clock.js';
import type { WeirError } from '../errors.js';
import type { AbortReason, CheckpointStats, JobEventBody } from './job-events.js';
import type { Logger } from './logger.js';
import type { CheckpointMetadata } from './metadata.js';
import type { Metrics } from './metrics.js';
import type {
  BlobHandle,
  BlobPart,
  EnumeratorSnapshot,
  FileBlob,
  OperatorRestore,
  SharedBlob,
  SubtaskSnapshot,
} from './snapshot.js';

// Everything between the engine and a checkpoint coordinator. The engine runs attempts; the coordinator decides about checkpoints.

/** Resolved settings: all times in ms, all defaults filled in, contradictions refused before. */
export interface CheckpointSettings {
  /** Undefined: only manual and final checkpoints. */
  readonly intervalMs: number | undefined;
  readonly mode: 'exactly-once' | 'at-least-once';
  readonly timeoutMs: number;
  readonly minPauseMs: number;
  readonly maxConcurrent: number;
  /** Barriers may overtake what waits in channels; exactly-once and one checkpoint at a time only. */
  readonly unaligned: boolean;
  /** From the trigger of an unaligned checkpoint to the moment from which its barriers overtake. */
  readonly alignedTimeoutMs: number;
  /** Infinity: failures are never counted. */
  readonly tolerableFailures: number;
  readonly retention: RetentionPolicy;
  readonly numRetained: number;
  /** False: once a subtask has finished only the final checkpoint is taken. */
  readonly checkpointsAfterFinish: boolean;
  readonly lockTimeoutMs: number;
  /** Restoring an older checkpoint than the newest is accepted although sinks will repeat output. */
  readonly allowDuplicates: boolean;
  /** Checkpoints may be made of what earlier ones have stored, where backend and storage can do that. Savepoints never are. */
  readonly incremental: boolean;
  /** State that no operator of the job claims is left behind instead of refused. */
  readonly allowNonRestoredState: boolean;
  /** The same for positions of sources, output that is not published, and records in flight. */
  readonly allowNonRestoredPositionsAndOutput: boolean;
  /** Whose the checkpoint or savepoint is that is restored by its path: `claim`: the job's, which removes it once it is superfluous; `no-claim`: the user's. */
  readonly claimMode: ClaimMode;
  /** False: a triggered savepoint is committed and restored from like a checkpoint. */
  readonly preferCheckpointForRecovery: boolean;
}
export type ClaimMode = 'claim' | 'no-claim';
/** What becomes of completed checkpoints when the job ends; a finished job's are always deleted. Default `delete-on-cancellation`. */
export type RetentionPolicy = 'no-externalized' | 'delete-on-cancellation' | 'retain-on-cancellation';

/** `auto`: the newest completed checkpoint if there is one. `latest`: the same, but none is an error. `none`: start afresh. */
export type RestoreFrom =
  'auto' | 'latest' | 'none' | { readonly path: string } | { readonly checkpointId: CheckpointId };

/** The plan as the coordinator needs it, in topological order; plain data. */
export interface PlanDescription {
  readonly graphHash: string;
  /** The user set the maximum parallelism. Otherwise the plan takes over that of the checkpoint it restores. */
  readonly isMaxParallelismSet: boolean;
  readonly stages: readonly StageDescription[];
  readonly edges: readonly EdgeDescription[];
}
/** A connection between two stages. */
export interface EdgeDescription {
  readonly from: StageId;
  readonly to: StageId;
  /** Each subtask is connected to the one with its own index; otherwise all are to all. */
  readonly isPointwise: boolean;
}
export interface StageDescription {
  readonly id: StageId;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly isSource: boolean;
  /** Stages whose records come back to this one, the head of a loop, and how they find their subtask. */
  readonly feedback?: readonly { readonly from: StageId; readonly partitioning: string }[] | undefined;
  readonly operators: readonly OperatorDescription[];
}
export interface OperatorDescription {
  readonly uid: OperatorUid;
  readonly name: string;
  readonly isStateful: boolean;
  /** Sinks whose grade is exactly-once or idempotent absorb a replay; others would show it. */
  readonly sinkGrade?: 'exactly-once' | 'idempotent' | 'at-least-once' | undefined;
}

export interface CoordinatorContext {
  readonly job: JobName;
  readonly plan: PlanDescription;
  readonly settings: CheckpointSettings;
  readonly storage: CheckpointStorage;
  readonly clock: Clock;
  readonly random: Random;
  /** A fresh random id, for the lineage. */
  readonly newId: () => string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  emit(event: JobEventBody): void;
  /** Fails the running attempt if it still is `attempt`. */
  failAttempt(attempt: AttemptNumber, error: unknown): void;
}

/** Role `weir.checkpoint-coordinator/1`. */
export interface CoordinatorFactory {
  create(context: CoordinatorContext): CheckpointCoordinator;
  /**
   * Looks at the checkpoint or savepoint that a path leads to as a start from it would, without the lock and without changing anything. Fails as
   * `start` does if there is none or it cannot be read. Absent: only a start tells.
   */
  examine?(context: CoordinatorContext, path: string): Promise<ExaminedCheckpoint>;
}

/** A checkpoint that nobody restores. */
export interface ExaminedCheckpoint {
  readonly pointer: string;
  readonly metadata: CheckpointMetadata;
  /** Who would restore what; or the error with which a start would be refused before anything is restored. */
  readonly outcome:
    { readonly kind: 'fits'; readonly restore: RestorePlan } | { readonly kind: 'refused'; readonly error: WeirError };
  /** To be called when nothing of it is read any more. */
  close(): Promise<void>;
}

/** Calls come in this order: start, then per attempt beginAttempt → attemptRunning → … → attemptEnded, at last end. */
export interface CheckpointCoordinator {
  /** Takes the lock, looks at what is stored, and decides what the first attempt restores. */
  start(restoreFrom: RestoreFrom, signal: AbortSignal): Promise<StartDecision>;
  /** A new attempt number, recorded durably, and what it restores (the newest completed checkpoint by now). The previous attempt is dead. */
  beginAttempt(): Promise<AttemptStart>;
  /**
   * The attempt goes back behind output that was committed, which it may: what it makes is another history. A new lineage, which checkpoints have
   * from now on. Called at most once per attempt, after `beginAttempt` and before `attemptRunning`.
   */
  branch(attempt: AttemptNumber): Lineage;
  /** Every subtask of the attempt runs: checkpoints may be triggered. */
  attemptRunning(gateway: AttemptGateway): void;
  /** A subtask's message; those of old attempts are recognised and dropped. */
  receive(report: SubtaskReport): void;
  /** A checkpoint now, whatever the schedule says. Rejects with CHECKPOINT_FAILED naming the reason. */
  triggerCheckpoint(): Promise<CheckpointStats>;
  /**
   * A savepoint in a new folder of `directory`, else of the storage's own. Rejects with SAVEPOINT_NOWHERE if there is neither, or with
   * CHECKPOINT_FAILED naming the reason. It is the user's: never restored unless asked for, never removed, and nothing is committed for it.
   */
  triggerSavepoint(directory?: string): Promise<CheckpointStats>;
  /**
   * A savepoint behind which no record moves. Periodic checkpoints stop before it, and start again if it fails (rejects as `triggerSavepoint`
   * does). Once it is complete the job is to end: until then it is what an attempt, also of another process, restores.
   */
  stopWithSavepoint(options: StopOptions): Promise<StopSavepoint>;
  /** Every subtask is past end of data: take the last checkpoint, and settle once its committables are committed. Tries again after a failure that is tolerable. */
  finalCheckpoint(): Promise<void>;
  /** No message of this attempt counts any more; pending checkpoints are aborted. Settles when nothing is being published, or the storage does not answer. */
  attemptEnded(attempt: AttemptNumber): Promise<void>;
  /** Fails with STORAGE_FENCED once another process or attempt has taken over. Asked before each batch of commits. */
  verify(attempt: AttemptNumber): Promise<void>;
  /**
   * The job is over: marker, retention, lock. `suspended` keeps everything, as a crash would; `stopped` keeps the savepoint it was stopped with,
   * and the knowledge of where that is.
   */
  end(outcome: 'finished' | 'stopped' | 'failed' | 'cancelled' | 'suspended'): Promise<void>;
  statistics(): CheckpointStatistics;
}

export interface StopOptions {
  /** Default: the storage's own. */
  readonly directory?: string | undefined;
  /** Sources end, the last watermark and `finish` run everywhere, and only then is the savepoint taken. Else the job stops where it stands. */
  readonly drain: boolean;
}
/** The savepoint is durable; `committed` settles when what it covers is visible, or rejects if the attempt ends first. */
export interface StopSavepoint {
  readonly stats: CheckpointStats;
  readonly committed: Promise<void>;
}

export type StartDecision =
  | { readonly kind: 'already-finished'; readonly lineage: Lineage }
  | { readonly kind: 'fresh'; readonly lineage: Lineage; readonly reason: string }
  | {
      readonly kind: 'restore';
      readonly lineage: Lineage;
      readonly checkpointId: CheckpointId;
      readonly pointer: string;
    };

export interface AttemptStart {
  readonly attempt: AttemptNumber;
  readonly lineage: Lineage;
  readonly restore: RestorePlan | undefined;
}
/** Who restores what. */
export interface RestorePlan {
  readonly checkpointId: CheckpointId;
  /** Of the attempt that took the checkpoint. */
  readonly lineage: Lineage;
  readonly pointer: string;
  /** Number of key groups of the checkpoint: the plan of the attempt has to have as many. Absent: it has. */
  readonly maxParallelism?: number | undefined;
  /** Keyed by subtaskName; one entry per subtask of the present plan that has something to restore, whatever the parallelism was. */
  readonly subtasks: ReadonlyMap<string, readonly OperatorRestore[]>;
  readonly enumerators: ReadonlyMap<OperatorUid, EnumeratorSnapshot>;
  /** Names of subtasks that were past their end: of these nothing is opened, only output left to commit is committed. Absent: none. */
  readonly finished?: ReadonlySet<string> | undefined;
  /** False: its files are the user's and may go at any time, so that no checkpoint may be made of them. */
  readonly isOwned: boolean;
  /** Bytes behind a handle, verified. */
  read(blob: BlobHandle): Promise<Uint8Array>;
  /** So many bytes of a blob, not verified; absent where the storage reads whole blobs only. */
  readonly readPart?: ((blob: FileBlob | SharedBlob, part: BlobPart) => Promise<Uint8Array>) | undefined;
}

/** The running attempt, as the coordinator sees it. */
export interface AttemptGateway {
  readonly attempt: AttemptNumber;
  readonly subtasks: readonly SubtaskId[];
  /**
   * Names of subtasks that have finished, in this attempt or before: they answer no barrier. A subtask finishes once a checkpoint that was taken
   * behind its end is complete and committed, and never before it has answered every barrier that was sent by then.
   */
  readonly finished: ReadonlySet<string>;
  /** From here until the barriers are injected (or the checkpoint is aborted) no split is assigned. */
  snapshotEnumerators(checkpointId: CheckpointId): Promise<readonly EnumeratorSnapshot[]>;
  /**
   * Sends the barrier into every subtask that runs and gets it from no other: sources, and those whose producers have all finished. Subtasks that
   * have not finished by now write to `location` and report to `receive`.
   */
  trigger(barrier: Barrier, location: CheckpointLocation): void;
  /**
   * Tells every subtask that `checkpointId` and all before are complete; settles when their committables are committed. Rejects if the attempt
   * ends first. Called in ascending order, also while the commits of an earlier one are still under way.
   */
  completed(checkpointId: CheckpointId): Promise<void>;
  /** A savepoint is complete. Subtasks are told nothing: what it covers is committed by the checkpoint after it. */
  released(checkpointId: CheckpointId): void;
  /** Tells every subtask that `checkpointId` will not complete; those that stand still behind a savepoint to stop with go on. */
  aborted(checkpointId: CheckpointId, latestCompleted: CheckpointId): void;
}

/** A subtask's answer to a barrier. */
export type SubtaskReport = Acknowledgement | Decline;
export interface Acknowledgement {
  readonly kind: 'ack';
  readonly attempt: AttemptNumber;
  readonly subtask: SubtaskId;
  readonly checkpointId: CheckpointId;
  readonly snapshot: SubtaskSnapshot;
  readonly stateBytes: number;
  /** Of these, what was written for this checkpoint. */
  readonly writtenBytes: number;
  /** First to last barrier. */
  readonly alignmentMs: number;
  /** prepare and capture. */
  readonly syncMs: number;
  readonly asyncMs: number;
}
export interface Decline {
  readonly kind: 'decline';
  readonly attempt: AttemptNumber;
  readonly subtask: SubtaskId;
  readonly checkpointId: CheckpointId;
  readonly reason: AbortReason;
  readonly error: unknown;
}

export interface CheckpointStatistics {
  readonly counts: {
    readonly triggered: number;
    readonly inProgress: number;
    readonly completed: number;
    readonly failed: number;
    readonly restored: number;
  };
  readonly latestCompleted: CheckpointStats | undefined;
  readonly latestRestored: { readonly checkpointId: CheckpointId; readonly at: number } | undefined;
  /** Since the last completed checkpoint, or since the job runs. */
  readonly msSinceLastCompleted: number;
  /** Newest last, the most recent 10 kept; failures without an id included. */
  readonly history: readonly CheckpointRecord[];
}
export type CheckpointRecord =
  | ({ readonly outcome: 'completed' } & CheckpointStats)
  | {
      readonly outcome: 'failed';
      readonly checkpointId: CheckpointId | undefined;
      readonly reason: AbortReason;
      readonly message: string;
      readonly at: number;
    }
  | {
      readonly outcome: 'in-progress';
      readonly checkpointId: CheckpointId;
      readonly triggeredAt: number;
      readonly acked: number;
      readonly expected: number;
    };
