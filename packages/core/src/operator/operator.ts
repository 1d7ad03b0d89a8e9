import type { CallBounds } from '../bounds/bounded-calls.js';
import type { Observable } from 'rxjs';
import type { Awaitable } from '../contracts/awaitable.js';
import type { Clock, Random } from '../contracts/clock.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import type {
  Committable,
  DestinationRef,
  KeyGroupRange,
  NativeStateHandle,
  OperatorStateMeta,
  OperatorStateMode,
} from '../contracts/snapshot.js';
import type { Serializer } from '../contracts/serializer.js';
import type {
  CaptureMode,
  KeyedCapture,
  KeyedGroup,
  KeyedStateStore,
  RestoredBase,
  StateDeclaration,
  StoredBytes,
} from '../contracts/state-backend.js';
import type { SnapshotKind, StreamElement } from '../element/element.js';
import type { AttemptNumber, CheckpointId, JobName, OperatorUid } from '../element/ids.js';
import type { CompileSchema } from '../state/schema-check.js';
import type { Declared, OperatorStateDeclaration } from '../state/state-match.js';
import type { KeyType } from '../element/key-type.js';
import type { Flow } from './flow.js';

/**
 * One parallel instance of an operator inside a stage: what strangers implement for low-level operators, and what all of ours are.
 *
 * Life: `restore` (only with state from a checkpoint) → `open` → elements → `finish` → `close`. All callbacks of one subtask run one after the
 * other. At a barrier: `prepare` of every operator from head to tail, then the barrier leaves, then `capture` of every operator from tail to head,
 * as one step. `close` is always called, and after it nothing else.
 */
export interface Operator<in A = never, out B = unknown> {
  /** True: it has state that each subtask restores from all. Then its subtasks stay to the end of the job, so that no part of it gets lost. */
  readonly hasUnionState?: boolean | undefined;
  /**
   * Elements in, elements out: an RxJS operator with one Observable per input. Gets record batches and watermarks, never barriers or ends.
   * A batch is read-only. What throws, or errors the output, fails the attempt.
   */
  connect(...inputs: readonly Observable<StreamElement<A>>[]): Observable<StreamElement<B>>;
  restore?(state: RestoredState): Awaitable<void>;
  open?(): Awaitable<void>;
  /** All input was seen and nothing will follow: emit what is held back. */
  finish?(): Awaitable<void>;
  /** May still emit; no input comes until it settles, and what it emits precedes the barrier. From then until `capture` it emits nothing. */
  prepare?(checkpointId: CheckpointId, kind: SnapshotKind): Awaitable<void>;
  /**
   * The state at this moment: synchronous, emits nothing, O(1) in the size of the state. Undefined: nothing to store. `mode` is for keyed state,
   * see {@link CaptureRequest.mode}.
   */
  capture?(checkpointId: CheckpointId, mode: CaptureMode): OperatorCapture | undefined;
  /** The checkpoint and all before are complete. A promise is awaited before the job finishes, not before the next record. */
  completed?(checkpointId: CheckpointId): Awaitable<void>;
  aborted?(checkpointId: CheckpointId): void;
  close?(end: OperatorEnd): Awaitable<void>;
}
/** `cancelled`: the user ended the job; `failed`: the attempt died and may be repeated. */
export type OperatorEnd = 'finished' | 'cancelled' | 'failed';

/** What an operator holds of one checkpoint until it is written. Encoded or immutable: user code runs on meanwhile. */
export interface OperatorCapture {
  readonly keyed?: KeyedCapture | undefined;
  /** What the keys of `keyed` have been so far, restored ones included; to be compared with by whoever restores it. Absent: it is not known. */
  readonly keyTypes?: readonly KeyType[] | undefined;
  /** Event time up to which the operator had seen everything; kept with each key group of `keyed`. Undefined before the first watermark. */
  readonly watermark?: number | undefined;
  readonly operatorState?: readonly CapturedOperatorState[] | undefined;
  readonly committables?: CapturedCommittables | undefined;
}
export interface CapturedOperatorState {
  readonly name: string;
  readonly mode: OperatorStateMode;
  readonly serializer: Serializer;
  /** Fresh values. */
  readonly values: readonly unknown[];
}
export interface CapturedCommittables {
  readonly destination: DestinationRef;
  readonly serializer: Serializer;
  readonly values: readonly Committable[];
}

/** What an operator finds in the checkpoint it restores, of every old subtask that this one continues. Damage is CHECKPOINT_UNREADABLE. */
export interface RestoredState extends StoredBytes {
  readonly checkpointId: CheckpointId;
  /** What the keys of keyed state have been in all subtasks; undefined where that was not written down. */
  readonly keyTypes: readonly KeyType[] | undefined;
  /**
   * Keyed state of this operator, whatever its format. Fails, here and below, where a stored state does not fit what is declared (state-match.ts),
   * before anything is read.
   */
  baseFor(declared: Declared<StateDeclaration>): RestoredBase;
  /** Keyed state in a backend's own format, of groups within the range; of the declared states under the names these have now, and of dropped ones. */
  nativeStates(declared: Declared<StateDeclaration>, range: KeyGroupRange): readonly NativeStateHandle[];
  /**
   * Key groups within the range that have state, verified, of the declared states and under the names these have now. A group comes again where
   * a later handle tells how it has changed.
   */
  keyedGroups(declared: Declared<StateDeclaration>, range: KeyGroupRange): AsyncIterable<KeyedGroup>;
  /** Operator state that is stored, once for every subtask that stored it. */
  readonly operatorStates: readonly OperatorStateMeta[];
  /** The values stored under `name`. */
  operatorState(name: string, serializer: Serializer): Promise<readonly unknown[]>;
  /** Prepared output; with `destination` only what was prepared for that place. */
  committables(serializer: Serializer, destination: string | undefined): Promise<readonly Committable[]>;
}

export interface OperatorContext {
  readonly job: JobName;
  readonly uid: OperatorUid;
  readonly name: string;
  readonly subtask: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** The part of the key space that this subtask owns. */
  readonly keyGroups: KeyGroupRange;
  readonly attempt: AttemptNumber;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly flow: Flow;
  /** Aborts when the attempt ends in any way but its natural one. */
  readonly signal: AbortSignal;
  /** Keyed state of the installed backend. The engine restores, captures and closes nothing by itself: hand the store's captures out of `capture`. */
  openKeyedState(states: readonly StateDeclaration[]): Promise<KeyedStateStore>;
  /** For calls to what may hang. Absent: the host waits for as long as it takes. */
  readonly calls?: CallBounds | undefined;
  /** For the schemas of states. */
  readonly compileSchema: CompileSchema;
  /** Runs `action` between two records of this subtask, also while it waits for a `prepare` or `finish`. */
  runInMailbox(action: () => void): void;
  /**
   * Runs `action` once, after at least `delayMs`, in place of a record: only when one could move, so it may emit. Never before the subtask runs,
   * between `prepare` and `capture`, or once its input has ended. The function returned cancels it (Flink: ProcessingTimeService).
   */
  timer(delayMs: number, action: () => void): () => void;
}

/** The states of an operator by kind. Absent: it has none of that kind, and a checkpoint that holds some is refused. */
export interface DeclaredStates {
  readonly keyed?: Declared<StateDeclaration> | undefined;
  readonly operator?: Declared<OperatorStateDeclaration> | undefined;
  /** What the keys of keyed state may be; absent: anything. */
  readonly keyTypes?: readonly KeyType[] | undefined;
}

/** How the graph makes the operator of a node. */
export interface OperatorSpec {
  readonly name: string;
  /** True: the operator has state in checkpoints, so it needs a stable uid. */
  readonly isStateful: boolean;
  /** What it keeps in checkpoints, for those who look before a start. Absent: only the operator knows. */
  declares?(uid: OperatorUid, clock: Clock): DeclaredStates;
  create(context: OperatorContext): Operator;
}
