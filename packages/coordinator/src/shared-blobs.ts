import {
  blobsOfKeyed,
  type BlobHandle,
  type CheckpointMetadata,
  type KeyedStateHandle,
  type SharedBlob,
} from '@weir/core/contracts';

/** Every file of a checkpoint that others may have, too. Only keyed state is stored in such files. */
export function sharedBlobsIn({ operators }: Pick<CheckpointMetadata, 'operators'>): readonly SharedBlob[] {
  return operators
    .flatMap(({ subtasks }) => subtasks)
    .flatMap(({ keyed }) => keyed)
    .flatMap(blobsOfKeyed)
    .filter((blob) => blob.kind === 'shared');
}

/** The same metadata with other shared files. */
export function mapShared(metadata: CheckpointMetadata, instead: (blob: SharedBlob) => SharedBlob): CheckpointMetadata {
  const operators = metadata.operators.map((operator) => ({
    ...operator,
    subtasks: operator.subtasks.map((subtask) => ({
      ...subtask,
      keyed: subtask.keyed.map((handle) => mapKeyed(handle, instead)),
    })),
  }));
  return { ...metadata, operators };
}

function mapKeyed(handle: KeyedStateHandle, instead: (blob: SharedBlob) => SharedBlob): KeyedStateHandle {
  const other = (blob: BlobHandle): BlobHandle => (blob.kind === 'shared' ? instead(blob) : blob);
  return handle.format === 'native'
    ? { ...handle, files: handle.files.map((file) => ({ ...file, blob: other(file.blob) })) }
    : { ...handle, blob: other(handle.blob) };
}
