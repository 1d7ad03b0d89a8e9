import type { CheckpointMetadata, OperatorMetadata, SubtaskState } from '../contracts/metadata.js';
import type { ByteReader, ByteWriter } from '../element/bytes.js';
import type { SnapshotKind } from '../element/element.js';
import { KEY_TYPES } from '../element/key-type.js';
import {
  readBoolean,
  readChannelHandle,
  readCommittablesHandle,
  readKeyedHandle,
  readList,
  readOperatorHandle,
  readOptional,
  readSerializerRef,
  readWord,
  writeBoolean,
  writeChannelHandle,
  writeCommittablesHandle,
  writeKeyedHandle,
  writeList,
  writeOperatorHandle,
  writeOptional,
  writeSerializerRef,
  writeWord,
} from './handle-bytes.js';
import type { Feature } from './metadata-features.js';

// What lies between the features and the checksum of `_metadata`, format version 1.

const KEPT_FOR_USER: Feature = 'kept-for-user';
const KINDS: readonly SnapshotKind[] = ['checkpoint', 'savepoint'];
const STATUSES: readonly OperatorMetadata['status'][] = ['running', 'finished', 'partly-finished'];

export function writeBody(out: ByteWriter, metadata: CheckpointMetadata, features: readonly Feature[]): void {
  out.text(metadata.job);
  out.text(metadata.lineage);
  out.varint(metadata.attempt);
  out.varint(metadata.checkpointId);
  writeWord(out, KINDS, metadata.kind);
  out.f64(metadata.triggeredAt);
  writeOptional(out, metadata.restoredFrom, (restored) => {
    out.varint(restored.checkpointId);
    out.text(restored.pointer);
  });
  out.text(metadata.weirVersion);
  out.text(metadata.nodeVersion);
  writeBoolean(out, metadata.selfContained);
  out.text(metadata.graphHash);
  writeList(out, metadata.operators, (operator) => writeOperator(out, operator, features));
  const { keptForUser = [] } = metadata;
  if (keptForUser.length > 0) writeList(out, keptForUser, (id) => out.varint(id));
}

export function readBody(from: ByteReader, features: readonly string[]): CheckpointMetadata {
  const body = {
    job: from.text(),
    lineage: from.text(),
    attempt: from.varint(),
    checkpointId: from.varint(),
    kind: readWord(from, KINDS),
    triggeredAt: from.f64(),
    restoredFrom: readOptional(from, () => ({ checkpointId: from.varint(), pointer: from.text() })),
    weirVersion: from.text(),
    nodeVersion: from.text(),
    selfContained: readBoolean(from),
    graphHash: from.text(),
    operators: readList(from, () => readOperator(from, features)),
  };
  return features.includes(KEPT_FOR_USER) ? { ...body, keptForUser: readList(from, () => from.varint()) } : body;
}

function writeOperator(out: ByteWriter, operator: OperatorMetadata, features: readonly Feature[]): void {
  out.text(operator.uid);
  out.varint(operator.parallelism);
  out.varint(operator.maxParallelism);
  writeWord(out, STATUSES, operator.status);
  if (operator.status === 'partly-finished') writeList(out, operator.finishedSubtasks ?? [], (i) => out.varint(i));
  writeOptional(out, operator.enumerator, (enumerator) => {
    writeSerializerRef(out, enumerator.serializer);
    out.block(enumerator.bytes);
  });
  writeList(out, operator.subtasks, (subtask) => writeSubtask(out, subtask, features));
}

function readOperator(from: ByteReader, features: readonly string[]): OperatorMetadata {
  const [uid, parallelism, maxParallelism] = [from.text(), from.varint(), from.varint()];
  const status = readWord(from, STATUSES);
  return {
    uid,
    parallelism,
    maxParallelism,
    status,
    ...(status === 'partly-finished' ? { finishedSubtasks: readList(from, () => from.varint()) } : {}),
    enumerator: readOptional(from, () => ({
      serializer: readSerializerRef(from),
      bytes: new Uint8Array(from.block()),
    })),
    subtasks: readList(from, () => readSubtask(from, features)),
  };
}

function writeSubtask(out: ByteWriter, subtask: SubtaskState, features: readonly Feature[]): void {
  out.varint(subtask.index);
  writeList(out, subtask.keyed, (handle) => writeKeyedHandle(out, handle));
  writeList(out, subtask.operator, (handle) => writeOperatorHandle(out, handle));
  writeOptional(out, subtask.committables, (handle) => writeCommittablesHandle(out, handle));
  writeList(out, subtask.channels, (handle) => writeChannelHandle(out, handle, features.includes('record-keys')));
  if (features.includes('key-types'))
    writeOptional(out, subtask.keyTypes, (types) => writeList(out, types, (type) => writeWord(out, KEY_TYPES, type)));
}

function readSubtask(from: ByteReader, features: readonly string[]): SubtaskState {
  return {
    index: from.varint(),
    keyed: readList(from, () => readKeyedHandle(from)),
    operator: readList(from, () => readOperatorHandle(from)),
    committables: readOptional(from, () => {
      // Where it is to be committed was not said before that: it might be another place than where it was prepared.
      if (!features.includes('destinations'))
        throw new Error('it holds prepared output without its destination, as files without that feature do');
      return readCommittablesHandle(from);
    }),
    channels: readList(from, () => readChannelHandle(from, features.includes('record-keys'))),
    ...(features.includes('key-types') && {
      keyTypes: readOptional(from, () => readList(from, () => readWord(from, KEY_TYPES))),
    }),
  };
}
