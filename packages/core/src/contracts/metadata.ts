import type { SnapshotKind } from '../element/element.js';
import type { AttemptNumber, CheckpointId, JobName, Lineage, OperatorUid } from '../element/ids.js';
import type { KeyType } from '../element/key-type.js';
import type { SerializerRef } from './serializer.js';
import type { ChannelStateHandle, CommittablesHandle, KeyedStateHandle, OperatorStateHandle } from './snapshot.js';

/** What `_metadata` says: once it is durable, the checkpoint is complete. Written by `encodeMetadata`, read by `decodeMetadata`. */
export interface CheckpointMetadata {
  readonly job: JobName;
  readonly lineage: Lineage;
  readonly attempt: AttemptNumber;
  readonly checkpointId: CheckpointId;
  readonly kind: SnapshotKind;
  /** When the coordinator triggered it, epoch ms. */
  readonly triggeredAt: number;
  /** What the attempt had restored; undefined for one that started afresh. */
  readonly restoredFrom: RestoredFrom | undefined;
  /** Version of @weir/core that wrote it. */
  readonly weirVersion: string;
  /** `process.versions.node` of the process that wrote it. */
  readonly nodeVersion: string;
  /** True: every file it refers to lies below its own location. False: it shares files with other checkpoints of the job. */
  readonly selfContained: boolean;
  readonly graphHash: string;
  /**
   * Older checkpoints of this history in the job's own directory that a user has restored by their path, unclaimed: nobody removes them, whoever
   * starts next. Absent: none.
   */
  readonly keptForUser?: readonly CheckpointId[] | undefined;
  /** Every operator of the plan, each uid once, also those without state. */
  readonly operators: readonly OperatorMetadata[];
}

export interface RestoredFrom {
  readonly checkpointId: CheckpointId;
  readonly pointer: string;
}

/** One operator of the plan and the state of its subtasks. */
export interface OperatorMetadata {
  readonly uid: OperatorUid;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** `finished`: every subtask was past its end before the barrier. Of those that were nothing is stored but output to commit. */
  readonly status: 'running' | 'partly-finished' | 'finished';
  /** With `partly-finished` only: which subtasks were past their end, ascending. */
  readonly finishedSubtasks?: readonly number[] | undefined;
  /** Sources only. */
  readonly enumerator: EnumeratorState | undefined;
  /** Ascending by index; subtasks without state are left out. */
  readonly subtasks: readonly SubtaskState[];
}

/** State of a source's split enumerator, encoded. */
export interface EnumeratorState {
  readonly serializer: SerializerRef;
  readonly bytes: Uint8Array;
}

/** What one subtask of an operator snapshotted. */
export interface SubtaskState {
  readonly index: number;
  readonly keyed: readonly KeyedStateHandle[];
  /** See {@link OperatorSnapshot.keyTypes}. */
  readonly keyTypes?: readonly KeyType[] | undefined;
  readonly operator: readonly OperatorStateHandle[];
  readonly committables: CommittablesHandle | undefined;
  readonly channels: readonly ChannelStateHandle[];
}
