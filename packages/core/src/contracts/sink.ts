import type { AttemptNumber, CheckpointId, JobName, Lineage, OperatorUid } from '../element/ids.js';
import type { SnapshotKind } from '../element/element.js';
import type { Awaitable } from './awaitable.js';
import type { Clock, Random } from './clock.js';
import type { JobEnding } from './job-events.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import type { Serializer } from './serializer.js';
import type { CheckpointRef, Committable, DestinationRef } from './snapshot.js';

/** `exactly-once`: output appears when a checkpoint commits it. `idempotent`: writing again changes nothing. `at-least-once`: replays show. */
export type SinkGrade = 'exactly-once' | 'idempotent' | 'at-least-once';

/** Where records go. */
export interface Sink<in T, out K extends SinkGrade = SinkGrade, C = unknown> {
  readonly grade: K;
  /** For committables and writer state; absent: the default serializer. */
  readonly serializer?: Serializer | undefined;
  /**
   * Where committed output goes: once per attempt, before `prepare`, and it changes nothing but what makes the place known. Present exactly when
   * `committer` is. Prepared output is committed in the place it was prepared for and nowhere else.
   */
  destination?(context: SinkContext): Awaitable<SinkDestination>;
  /**
   * Once per attempt, before any writer, in one place: checks and prepares what all subtasks share (SINK_DIRECTORY_OCCUPIED, left-overs of dead attempts).
   * Called after the attempt is the only one alive and before restored committables are committed.
   */
  prepare?(context: SinkContext): Awaitable<void>;
  open(context: SinkWriterContext): Awaitable<SinkWriter<T, C>>;
  /** Present exactly when writers make committables. */
  committer?(context: SinkWriterContext): Awaitable<Committer<C>>;
  /** The job is over, its last attempt is closed (or none began): free what outlives attempts. Called once per job. */
  jobEnded?(job: JobName, ending: JobEnding): Awaitable<void>;
}

/** A place that committed output goes to, known by what it is and not by the way there. */
export interface SinkDestination extends DestinationRef {
  /**
   * Up to which checkpoint of each lineage output of this sink was committed there, as the place itself has it. A committer records it durably
   * before any output of the checkpoint can be seen, or in the same transaction: so output that was taken away is told from output that was lost,
   * and a restore that would repeat output from one that would not.
   */
  readonly committed: readonly CommitMark[];
}
export interface CommitMark extends CheckpointRef {
  /** What the lineage went on from, if that was of another one. */
  readonly from?: CheckpointRef | undefined;
}

export interface SinkContext {
  readonly job: JobName;
  readonly lineage: Lineage;
  readonly uid: OperatorUid;
  readonly attempt: AttemptNumber;
  readonly parallelism: number;
  /** The checkpoint that this attempt continues from; undefined: it starts afresh. */
  readonly restoredFrom: CheckpointRef | undefined;
  /** False: no checkpoints are taken. A transactional sink then publishes on roll and at the end, and its grade is at-least-once. */
  readonly checkpointing: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}
export interface SinkWriterContext extends SinkContext {
  readonly subtask: number;
  /** What `state` gave at the restored checkpoint, of every old subtask that this one continues. */
  readonly restoredState: readonly unknown[];
  /** With checkpointing off: hands payloads to the committer right away (on roll). */
  commitNow(payloads: readonly unknown[]): Promise<void>;
  /**
   * For a writer that can hold no more until a checkpoint has passed; it may wait for this in `write`. Settles once a barrier is on its way to it,
   * at once if one already is: the records in front of that barrier must still be taken, so that it arrives. A checkpoint is asked for if none
   * is under way. Aborting `until` gives the wait up; rejects when the attempt ends. Absent where no checkpoints are taken.
   */
  nextBarrier?(until: AbortSignal): Promise<void>;
}

/** Calls never overlap: a promise is awaited before the next call. */
export interface SinkWriter<in T, C = unknown> {
  /** A promise withdraws demand until it settles. */
  write(batch: readonly T[]): void | Promise<void>;
  /** What was written so far is handed over to the outside (not yet visible for a transactional sink). */
  flush?(): Awaitable<void>;
  /**
   * Before a barrier leaves: everything written since the last call becomes payloads, durable outside when this settles.
   * The engine gives each its identity and keeps it in the checkpoint until it is confirmed committed. A `savepoint` is the user's: what is not
   * committed by then may be asked for at any time later, also after the job has ended.
   */
  prepareCommit?(checkpointId: CheckpointId, kind: SnapshotKind): Awaitable<readonly C[]>;
  /** State of the writer at the barrier, right after prepareCommit; fresh plain values. */
  state?(checkpointId: CheckpointId): readonly unknown[];
  /** Frees everything. What was not prepared is abandoned. Idempotent. */
  close(): Awaitable<void>;
}

/** Makes prepared output visible. Idempotent: the same committable may come again after a crash, also from another process. */
export interface Committer<C = unknown> {
  /** One outcome per committable, in order. Throwing is the same as `retry` for all. */
  commit(committables: readonly Committable<C>[], signal: AbortSignal): Promise<readonly CommitOutcome[]>;
  close?(): Awaitable<void>;
}
export type CommitOutcome =
  | { readonly kind: 'committed' }
  | { readonly kind: 'already-committed' }
  /** Not now; the engine tries again with a growing delay. */
  | { readonly kind: 'retry'; readonly error: unknown }
  /** Never: the job fails with COMMIT_FAILED. */
  | { readonly kind: 'failed'; readonly error: unknown };
