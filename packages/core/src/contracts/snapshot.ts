import type {
  AttemptNumber,
  CheckpointId,
  JobName,
  KeyGroup,
  Lineage,
  OperatorUid,
  SubtaskId,
} from '../element/ids.js';
import type { KeyType } from '../element/key-type.js';
import type { SerializerRef } from './serializer.js';

/** Key groups `first` to `last`, both included. */
export interface KeyGroupRange {
  readonly first: KeyGroup;
  readonly last: KeyGroup;
}

/** Bytes in checkpoint storage: inside `_metadata`, in a file of the checkpoint's own, or in one that several checkpoints of a job are made of. */
export type BlobHandle = InlineBlob | FileBlob | SharedBlob;
export interface InlineBlob {
  readonly kind: 'inline';
  readonly bytes: Uint8Array;
}
export interface FileBlob {
  readonly kind: 'blob';
  /** Relative to the checkpoint's location, with `/`. */
  readonly path: string;
  readonly length: number;
  readonly algorithm: 'crc32';
  readonly checksum: number;
}

/** Written once, referred to by any number of checkpoints of the job, deleted when the last of them is (see {@link JobStorage.deleteShared}). */
export interface SharedBlob {
  readonly kind: 'shared';
  /** What its writer knows it by: equal keys in two checkpoints mean the same content (Flink: SharedStateRegistryKey). */
  readonly key: string;
  /** Its name among the shared files of the job. */
  readonly path: string;
  readonly length: number;
  readonly algorithm: 'crc32';
  readonly checksum: number;
}

/** Contiguous bytes of a blob. */
export interface BlobPart {
  readonly offset: number;
  readonly length: number;
}

/** How a state backend keeps a state. */
export type StateKind = 'value' | 'list' | 'map';
/** What a checkpoint says a state is: `reducing` and `aggregating` state is value state whose value is nobody's but the state's own. */
export type RecordedKind = StateKind | 'reducing' | 'aggregating';
/** One named keyed state of an operator, as stored. */
export interface StateMeta {
  readonly name: string;
  readonly kind: RecordedKind;
  readonly serializer: SerializerRef;
}
/**
 * Keyed state of one subtask. Several make up the state of an operator: those of one subtask follow one another in time, each telling what has
 * changed since the one before (incremental checkpoints); those of different subtasks have no key group in common.
 */
export type KeyedStateHandle = SectionsHandle | NativeStateHandle;
/** Sections per key group, see snapshot/keyed-sections.ts: readable without the backend that wrote them. */
export interface SectionsHandle {
  readonly range: KeyGroupRange;
  /** `canonical`: the rows that are there. `changes`: what was put and removed since the handle before it, see state/changes.ts. */
  readonly format: 'canonical' | 'changes';
  /** Index in this array is the state id used in the sections. */
  readonly states: readonly StateMeta[];
  /** Where the sections of each non-empty key group lie in the blob; ascending by key group, contiguous per group. */
  readonly groups: readonly { readonly keyGroup: KeyGroup; readonly offset: number; readonly length: number }[];
  readonly blob: BlobHandle;
}

/** Files in the format of the state backend that wrote them, which alone reads them. */
export interface NativeStateHandle {
  readonly range: KeyGroupRange;
  readonly format: 'native';
  /** The `type` of the backend, and the version of what it keeps its files with. */
  readonly engine: string;
  readonly engineVersion: string;
  /** Whatever a reader must know to open the files. */
  readonly options: Readonly<Record<string, string>>;
  readonly states: readonly StateMeta[];
  /** Of the operator at the capture; undefined if there was none yet. */
  readonly watermark: number | undefined;
  readonly files: readonly NativeFile[];
}
export interface NativeFile {
  readonly name: string;
  readonly blob: BlobHandle;
}

/** How operator state is dealt out on rescale: `list` is split, `union` goes to everybody, `broadcast` is one copy each. */
export type OperatorStateMode = 'list' | 'union' | 'broadcast';
/** One named operator state, as stored. */
export interface OperatorStateMeta {
  readonly name: string;
  readonly mode: OperatorStateMode;
  readonly serializer: SerializerRef;
}
export interface OperatorStateHandle extends OperatorStateMeta {
  readonly count: number;
  /** `count` encoded values one after the other. */
  readonly blob: BlobHandle;
}

/** Values `from` to before `to` of those behind a handle; absent: all. On rescale several subtasks may share the values of one handle. */
export interface OperatorStateShare extends OperatorStateHandle {
  readonly share?: { readonly from: number; readonly to: number } | undefined;
}

/** A checkpoint, and the history that it belongs to. */
export interface CheckpointRef {
  readonly lineage: Lineage;
  readonly checkpointId: CheckpointId;
}
/** A place that a sink's output goes to. */
export interface DestinationRef {
  /** Minted for the place and kept in it, or its own (a cluster's, a database's): the same wherever it is found, and no other's. */
  readonly id: string;
  /** For messages. */
  readonly name: string;
}
/** Fixed when a committable is made, never changed by a restart or rescale. */
export interface CommittableIdentity {
  readonly job: JobName;
  readonly lineage: Lineage;
  readonly sink: OperatorUid;
  readonly attempt: AttemptNumber;
  /** 0 with checkpointing off. */
  readonly checkpointId: CheckpointId;
  readonly subtask: number;
  readonly sequence: number;
}
/** Something a sink prepared that becomes visible once it is committed. */
export interface Committable<C = unknown> {
  readonly identity: CommittableIdentity;
  readonly payload: C;
}
export interface CommittablesHandle {
  /** Where they were prepared. */
  readonly destination: DestinationRef;
  readonly serializer: SerializerRef;
  /** Largest checkpoint id among the committables, 0 without any. */
  readonly newest: CheckpointId;
  readonly count: number;
  readonly blob: BlobHandle;
}

/** An edge of the graph, whatever the parallelism: the `output`-th edge out of the producer, and the input of the consumer it leads to. */
export interface EdgeName {
  readonly producer: OperatorUid;
  readonly output: number;
  readonly consumer: OperatorUid;
  readonly input: number;
}
/**
 * Records that were between two subtasks when a barrier overtook them, or that went round a loop behind it. `input`: they waited at the consumer;
 * `output`: at the producer, in hosts whose channels have a queue at either end; `loop`: they came over a feedback edge between the loop head's
 * capture and the return of the barrier. The head operator of a stage has what is `input` and `loop`, the tail operator what is `output`.
 */
export interface ChannelStateHandle {
  readonly kind: 'input' | 'output' | 'loop';
  readonly edge: EdgeName;
  /** Subtasks of the attempt that captured it. */
  readonly fromSubtask: number;
  readonly toSubtask: number;
  readonly serializer: SerializerRef;
  /** Event times follow the records. */
  readonly timed: boolean;
  /** Keys follow the records, behind event times if there are some. */
  readonly keyed?: boolean | undefined;
  readonly count: number;
  readonly blob: BlobHandle;
}

/** One operator's part of one subtask's snapshot. */
export interface OperatorSnapshot {
  readonly uid: OperatorUid;
  readonly keyed: readonly KeyedStateHandle[];
  /** What the keys have been that came to `keyed`, those included of which nothing is left. Absent: nobody has written it down. */
  readonly keyTypes?: readonly KeyType[] | undefined;
  readonly operator: readonly OperatorStateHandle[];
  readonly committables?: CommittablesHandle | undefined;
  readonly channels?: readonly ChannelStateHandle[] | undefined;
}
/** What an operator of one subtask takes over of what was stored: all of one old subtask, or parts of several. `keyTypes` are those of all subtasks. */
export interface OperatorRestore extends OperatorSnapshot {
  readonly operator: readonly OperatorStateShare[];
}
/** One subtask's part of a checkpoint. Survives structuredClone. Operators without state are left out. */
export interface SubtaskSnapshot {
  readonly subtask: SubtaskId;
  /** It was past its end before the barrier and will never do anything again: there is nothing in it but output to commit. */
  readonly finished?: boolean | undefined;
  readonly operators: readonly OperatorSnapshot[];
}
/** State of a source's split enumerator, encoded. */
export interface EnumeratorSnapshot {
  readonly uid: OperatorUid;
  readonly serializer: SerializerRef;
  readonly bytes: Uint8Array;
}
