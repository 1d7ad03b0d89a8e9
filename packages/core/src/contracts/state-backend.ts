import type { CheckpointId, KeyGroup, OperatorUid } from '../element/ids.js';
import type { Key } from '../element/key.js';
import type { Awaitable } from './awaitable.js';
import type { Clock } from './clock.js';
import type { Logger } from './logger.js';
import type { Serializer } from './serializer.js';
import type { BlobWriter } from './checkpoint-storage.js';
import type {
  BlobHandle,
  KeyGroupRange,
  KeyedStateHandle,
  NativeStateHandle,
  RecordedKind,
  StateKind,
  StateMeta,
} from './snapshot.js';

/** Working state of keyed operators. All access is synchronous. */
export interface StateBackend {
  readonly type: string;
  readonly capabilities: StateBackendCapabilities;
  open(scope: StateScope): Awaitable<KeyedStateStore>;
}
export interface StateBackendCapabilities {
  /** Values read from a state are the same object until the entry is written; a backend that decodes on each read says false. */
  readonly keepsIdentity: boolean;
  /** It can capture incrementally, see {@link CaptureRequest.mode}. Absent: every capture is full. */
  readonly incremental?: boolean | undefined;
}
export interface StateScope {
  readonly job: string;
  readonly operator: OperatorUid;
  readonly subtask: number;
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  readonly states: readonly StateDeclaration[];
  readonly clock: Clock;
  readonly logger: Logger;
}
/** A state as the operator declares it; its position in `StateScope.states` is its id in snapshots of this store. */
export interface StateDeclaration {
  readonly name: string;
  readonly kind: StateKind;
  readonly serializer: Serializer;
  /** Value state only: what `value()` gives while nothing is stored. Called anew each time. */
  readonly initial?: (() => unknown) | undefined;
  /** What checkpoints say of the state where that is more than how it is kept; the engine's business, backends know `kind` alone. */
  readonly recordedAs?: RecordedKind | undefined;
  /** What older checkpoints call it; the engine's business, too. */
  readonly renamedFrom?: readonly string[] | undefined;
  /** There if what the state stores expires. The handle still gives it: not to show it is the engine's business. */
  readonly expiry?: StateExpiry | undefined;
}
export interface StateExpiry {
  /** Whether a value that is stored, an element of a list, or what a map has for a key, is worth nothing any more. */
  isExpired(stored: unknown): boolean;
  /** The part of it that user code gets to see. Nothing else of a stored value is ever changed in place. */
  shown(stored: unknown): unknown;
}

export interface ValueState<T, Absent = undefined> {
  value(): T | Absent;
  update(value: T): void;
  clear(): void;
}
export interface ListState<T> {
  values(): Iterable<T>;
  add(value: T): void;
  clear(): void;
}
export interface MapState<K extends Key, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  entries(): Iterable<readonly [K, V]>;
  clear(): void;
}
/** Keeps what `reduce` makes of all values added for a key (Flink: ReducingState). */
export interface ReducingState<T> {
  /** Undefined before the first value. */
  value(): T | undefined;
  add(value: T): void;
  clear(): void;
}
/** Keeps an accumulator of the values added for a key, and gives the result of it (Flink: AggregatingState). */
export interface AggregatingState<In, Out> {
  /** Undefined before the first value. */
  value(): Out | undefined;
  add(value: In): void;
  clear(): void;
}
/**
 * The handle of a value state as a backend makes it. What a handler emits must not be what state keeps, so the engine looks for objects that are both.
 * A handle that tells what it holds is asked when an object was emitted; in front of others the engine puts one that notes what goes through.
 */
export interface ValueStateHandle extends ValueState<unknown, unknown> {
  /** Whether it is this very object that is stored for the current key, if anything was read or written since the key was set. Changes nothing. */
  holds?(value: object): boolean;
}
export type StateHandle = ValueStateHandle | ListState<unknown> | MapState<Key, unknown>;

/**
 * The keyed state of one operator in one subtask.
 *
 * A value handed to user code is never a hole in the photograph: what a capture holds is the state at the moment of `capture`, also when
 * user code later updates, removes, clears or mutates in place. References that user code got must not be used after its callback.
 * Any number of captures coexist.
 */
export interface KeyedStateStore {
  /**
   * Every handle now works on `key`. Costs next to nothing: look things up on first access. `place`: where the key is among those that were
   * handed to {@link lookAhead} last.
   */
  setCurrentKey(key: Key, place?: number): void;
  /**
   * A hint: these keys are set next, in this order. A store whose tables are larger than the processor's caches can look them up one right
   * after the other, so that the waits for memory overlap, and find by its place what it has found. Changes nothing that can be seen.
   */
  lookAhead?(keys: readonly Key[]): void;
  /** The handle of a declared state, the same object for the life of the store. */
  handle(name: string): StateHandle;
  /** The moment of the photograph: synchronous, O(1) in the size of the state. */
  capture(request: CaptureRequest): KeyedCapture;
  /** Takes rows of a snapshot back, before the first record. Sections of groups outside of the store's range are never given. Rows add up. */
  restore(section: KeyedSection): void;
  /**
   * Takes back what a backend of the same `type` has written in its own format, of those key groups that are in the store's range. Absent: it has
   * no format of its own. Values that another serializer wrote are read as `readRows` reads them, and states that are not declared were given up.
   * Fails with CHECKPOINT_INCOMPATIBLE if it cannot read such files, before it reads any.
   */
  restoreNative?(state: NativeStateHandle, stored: StoredBytes): Promise<void>;
  /** Everything that was stored has been given back. For backends that capture incrementally. */
  restored?(base: RestoredBase): void;
  /** True while captures hold so many preserved bytes that no more records should come until writing has caught up. */
  isOverBudget(): boolean;
  /**
   * Looks at up to `budget` more entries of a state that has an expiry, round after round, and removes those that are expired, as its handle would;
   * a list only when all of its elements are. Called between two records, and no key is set afterwards. Absent: what expires is removed when it is
   * touched, and left out of full captures.
   */
  sweep?(state: string, budget: number): void;
  /** Every entry, for what is built anew from state when it was restored, for tests and tools: order and identity unspecified. */
  entries(name: string): Iterable<StateEntry>;
  completed(checkpointId: CheckpointId): void;
  aborted(checkpointId: CheckpointId): void;
  close(): Awaitable<void>;
}
export interface CaptureRequest {
  readonly checkpointId: CheckpointId;
  /**
   * `full`: every row, in canonical sections, so that any backend can restore it. `incremental`: it may be made of what `completed` has confirmed
   * and of what has changed since, in any format. With nothing confirmed, and after a restore of what is not the job's own, there is no base.
   */
  readonly mode: CaptureMode;
}
export type CaptureMode = 'full' | 'incremental';
/** Reads what lies behind handles. */
export interface StoredBytes {
  /** In order, verified by length and checksum at the end: whatever was made of the bytes is void if it fails with CHECKPOINT_UNREADABLE. */
  open(blob: BlobHandle): AsyncIterable<Uint8Array>;
}
export interface RestoredBase {
  readonly checkpointId: CheckpointId;
  /** In the order in which they were given back, those included of which nothing was needed. */
  readonly handles: readonly KeyedStateHandle[];
  /**
   * False: the next checkpoint must not be made of them. The files are the user's and may go at any time, or what is in them is not as the
   * operator declares it now.
   */
  readonly isOwned: boolean;
}
export type StateEntry =
  | { readonly key: Key; readonly kind: 'value'; readonly value: unknown }
  | { readonly key: Key; readonly kind: 'list'; readonly values: readonly unknown[] }
  | { readonly key: Key; readonly kind: 'map'; readonly mapKey: Key; readonly value: unknown };

export interface KeyedCapture {
  /**
   * What becomes of the sections that `write` gives. Default `private`: they are the rows of this checkpoint and of no other. `base`: later
   * checkpoints may refer to these rows. `changes`: they tell what has changed since the handle that was added last, and may be referred to as well.
   */
  readonly sections?: 'private' | 'base' | 'changes' | undefined;
  /**
   * Writes the state of the capture in slices while records flow: works until `slice.isOver()`, then awaits `slice.next()`.
   * Sections come in ascending key groups; a group may have several for one state, all before the next group's.
   */
  write(out: KeyedStateOutput, slice: Slice): Promise<void>;
  /** What the state now consists of in checkpoint storage, durable. Called after `write`, before `release`; the checkpoint may still be aborted. */
  written?(handles: readonly KeyedStateHandle[]): void;
  /** The capture holds nothing any more. Called once: after `write` settled, or instead of it. */
  release(): void;
}
/** A share of the thread: long work stops when it is over and asks for the next. */
export interface Slice {
  /** Cheap enough to be asked every few dozen rows. */
  isOver(): boolean;
  /** Settles when the next slice begins; rejects when the checkpoint is given up. */
  next(): Promise<void>;
}
export interface KeyedStateOutput {
  /** Appends a section. `rows` is taken over until the returned promise settles (or at once if none is returned). */
  section(section: KeyedSection): void | Promise<void>;
  /** There for captures that were asked to be incremental. */
  readonly incremental?: IncrementalOutput | undefined;
}
export interface IncrementalOutput {
  /** For files in the backend's own format. With a key: the file may be referred to by later checkpoints. Removed if the capture cannot be written. */
  createBlob(sharedKey?: string): BlobWriter;
  /** The state consists of this as well: of what an earlier checkpoint has written, or of blobs made now. In front of the sections. */
  add(handle: KeyedStateHandle): void;
  /** What to note in a native handle; see {@link NativeStateHandle.watermark}. */
  readonly watermark: number | undefined;
}
/** Rows of one state in one key group, in the canonical row format (state/rows.ts). */
export interface KeyedSection {
  readonly keyGroup: KeyGroup;
  readonly state: StateMeta;
  readonly count: number;
  readonly rows: Uint8Array;
  /** True: the rows are changes (state/changes.ts) to what earlier sections of the group have given. */
  readonly isChange?: boolean | undefined;
}
/** The keyed state of one key group, as stored. */
export interface KeyedGroup {
  readonly keyGroup: KeyGroup;
  /** Of the operator at the capture; undefined if there was none yet. */
  readonly watermark: number | undefined;
  /** In the order they were written; rows are views into the bytes. */
  readonly sections: readonly KeyedSection[];
}
