import type { CheckpointId, KeyedStateHandle, SharedBlob } from '@weir/core/contracts';
import { isRowFile } from './native-format.js';

/** Files of rows that lie in checkpoint storage, by the name that they have in the database. */
export type StoredFiles = ReadonlyMap<string, SharedBlob>;

const NO_FILES: StoredFiles = new Map();

/**
 * Which files the next checkpoint need not store again: those of the last checkpoint that was confirmed to be complete, and not of the last that
 * was tried (Flink: RocksIncrementalSnapshotStrategy).
 */
export class FileBase {
  /** Of what is written and not confirmed yet. */
  readonly #written = new Map<CheckpointId, StoredFiles>();
  #confirmed: StoredFiles = NO_FILES;
  #checkpointId: CheckpointId = 0;

  get files(): StoredFiles {
    return this.#confirmed;
  }

  written(checkpointId: CheckpointId, handles: readonly KeyedStateHandle[]): void {
    this.#written.set(checkpointId, filesOf(handles));
  }
  completed(checkpointId: CheckpointId): void {
    const files = this.#written.get(checkpointId);
    for (const id of this.#written.keys()) if (id <= checkpointId) this.#written.delete(id);
    if (files === undefined || checkpointId <= this.#checkpointId) return;
    this.#checkpointId = checkpointId;
    this.#confirmed = files;
  }
  aborted(checkpointId: CheckpointId): void {
    this.#written.delete(checkpointId);
  }
  /** The database is a copy of these files. */
  restored(checkpointId: CheckpointId, handle: KeyedStateHandle): void {
    this.#checkpointId = checkpointId;
    this.#confirmed = filesOf([handle]);
  }
}

function filesOf(handles: readonly KeyedStateHandle[]): StoredFiles {
  const files = new Map<string, SharedBlob>();
  for (const handle of handles) {
    if (handle.format !== 'native') continue;
    for (const { name, blob } of handle.files) if (isRowFile(name) && blob.kind === 'shared') files.set(name, blob);
  }
  return files;
}
