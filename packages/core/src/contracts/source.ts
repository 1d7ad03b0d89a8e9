import type { AttemptNumber, CheckpointId, JobName, OperatorUid } from '../element/ids.js';
import type { Awaitable } from './awaitable.js';
import type { Clock, Random } from './clock.js';
import type { JobEnding } from './job-events.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import type { Serializer } from './serializer.js';

/**
 * `replayable`: reads again from any position of a checkpoint. `acknowledging`: the upstream forgets what was acknowledged, which happens
 * only after a checkpoint completed. `at-most-once`: what was produced while nobody listened is gone.
 */
export type SourceGrade = 'replayable' | 'acknowledging' | 'at-most-once';

/** A part of the input that one subtask reads in order. Its id is the same in every run over the same input. */
export interface SourceSplit {
  readonly id: string;
}

/** Where records come from. The split type and the position type are plain data that the serializer takes. */
export interface Source<
  out T,
  out G extends SourceGrade = SourceGrade,
  Split extends SourceSplit = SourceSplit,
  Position = unknown,
> {
  readonly grade: G;
  /** False: the source never ends by itself. A subtask then reads all splits that it is given side by side, instead of one after the other. */
  readonly bounded: boolean;
  /** For splits, enumerator state and positions; absent: the default serializer. */
  readonly serializer?: Serializer | undefined;
  /** One per job attempt. `staticSplits` makes one from a list. */
  enumerator(context: SourceContext): SplitEnumerator<Split>;
  /**
   * A reader of one split from `position`, or from its beginning. Fails with SOURCE_POSITION_GONE if the position does not exist. Where a split
   * begins is the same however often it is opened without a position: "now" is decided by the enumerator, once, and is part of the split.
   */
  open(split: Split, position: Position | undefined, context: ReaderContext): Promise<SourceReader<T, Position>>;
  /** The job is over, its last attempt is closed (or none began): free what outlives attempts. Called once per job. */
  jobEnded?(job: JobName, ending: JobEnding): void;
}

export interface SourceContext {
  readonly job: JobName;
  readonly uid: OperatorUid;
  readonly attempt: AttemptNumber;
  readonly parallelism: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Aborts when the attempt ends in any way but its natural one. */
  readonly signal: AbortSignal;
}
export interface ReaderContext extends SourceContext {
  readonly subtask: number;
}

/**
 * Deals splits out to subtasks: finds them, gives one to whoever asks, and remembers which are given. There is one per source and attempt.
 * Its snapshot is taken before the barrier of that checkpoint enters any reader; nothing is assigned in between.
 */
export interface SplitEnumerator<Split extends SourceSplit = SourceSplit> {
  /** Discovers splits. With a restored state, discovery only adds what that state has neither given out nor finished. */
  start(restored: unknown): Awaitable<void>;
  /** The next split for a subtask that has none; undefined: nothing now (`onAvailable` is called later); 'end': never again. */
  assign(subtask: number): Split | 'end' | undefined;
  /** Called when a subtask has read a split to its end. */
  finished(splitId: string): void;
  /** Splits of a subtask that cannot go on with them; they are given to others. */
  handBack(splits: readonly Split[]): void;
  /** All that `start` needs: unassigned, assigned and finished splits. A fresh value, never undefined, which is a first start. */
  snapshot(): unknown;
  /** Set by the engine: call it when `assign` may give more than before. */
  onAvailable?: (() => void) | undefined;
  close(): Awaitable<void>;
}

/** Reads one split. Never called while a poll is outstanding, except `completed` and `close`. */
export interface SourceReader<out T, out Position = unknown> {
  /**
   * Up to `max` records, in order: at once, or as a promise when there is nothing now. An empty array means "ask again next turn"; 'end' is final.
   * Must not block for long: a slow decode returns fewer records.
   */
  poll(max: number): readonly T[] | Promise<readonly T[] | 'end'> | 'end';
  /**
   * Where to go on after the last record handed over. A fresh value, asked when the reader is open and right after each poll, also one that brought
   * nothing. Undefined: there is none, and nothing is told of it; a reader that had one does not lose it.
   */
  position(): Position;
  /**
   * A checkpoint is durable that covers everything before `position`, which this reader gave: acknowledging sources, which must have it, tell
   * upstream now, so far and no further. Checkpoints come in order, some of them never. With checkpoints on, a reader that has it is not closed at
   * the end of its split but once it has been told of its last position.
   */
  completed?(checkpointId: CheckpointId, position: Exclude<Position, undefined>): Awaitable<void>;
  /** Ends an outstanding poll and frees everything. Idempotent. */
  close(): Promise<void>;
}
