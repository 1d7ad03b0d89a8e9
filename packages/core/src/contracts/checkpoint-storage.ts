import type { AttemptNumber, CheckpointId, JobName } from '../element/ids.js';
import type { Clock } from './clock.js';
import type { Logger } from './logger.js';
import type { BlobHandle, BlobPart, FileBlob, SharedBlob } from './snapshot.js';

/**
 * Durable bytes of checkpoints. Nothing here knows what a checkpoint means: completing, retaining and restoring are the coordinator's.
 * Durable means: what a settled promise reported survives a crash of the machine, if `capabilities.durable`.
 */
export interface CheckpointStorage {
  readonly type: string;
  readonly capabilities: StorageCapabilities;
  /** Opens the part that belongs to one job; creates nothing before something is written or locked. Jobs of different names never see each other's data. */
  open(scope: StorageScope): Promise<JobStorage>;
}
export interface StorageCapabilities {
  /** What is stored is found again by a new process. */
  readonly durable: boolean;
  /** A second process is kept out by `lock`. */
  readonly locks: boolean;
  /** Savepoints can be put into directories of the user's, see {@link JobStorage.createSavepoint}. Absent: they cannot. */
  readonly savepoints?: boolean | undefined;
  /** Checkpoints of a job can have files in common, see {@link CheckpointLocation.createSharedBlob}. Absent: all of them are full. */
  readonly sharedFiles?: boolean | undefined;
}
export interface StorageScope {
  readonly job: JobName;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface JobStorage {
  /**
   * Keeps every other process away from this job. Waits up to `waitMs` for the present owner, then fails with STORAGE_LOCKED naming it.
   * The lock of a process that is dead is taken over. Its attempt number is told, so that the new attempt's is larger.
   */
  lock(options: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<StorageLock>;
  /** Every checkpoint location present, complete or not, ascending by id; foreign names are ignored. */
  list(): Promise<readonly StoredCheckpoint[]>;
  /** The completed checkpoint or savepoint, of any job, that a user's path names (its folder or its `_metadata` file). Fails with CHECKPOINT_NONE if there is none. */
  resolve(pointer: string): Promise<StoredCheckpoint>;
  /** Makes an empty location for a new checkpoint. Fails with STORAGE_FAILED if the id is taken. */
  create(checkpointId: CheckpointId): Promise<CheckpointLocation>;
  /** Where savepoints go that nobody gives a directory. */
  readonly savepointDirectory?: string | undefined;
  /**
   * Makes an empty location for a savepoint: a new place in `directory`, which is made if it is missing; any number of them for one id. It is
   * in no `list`. `resolve` finds it by its pointer, also after all of it was moved and the pointer with it, so it refers to nothing outside.
   * There with `capabilities.savepoints`.
   */
  createSavepoint?(checkpointId: CheckpointId, directory: string): Promise<CheckpointLocation>;
  /**
   * The bytes given to `publish`, durable from now on if they were not: the process that published may have died before it knew.
   * Integrity of `_metadata` is checked by its reader; a missing one is CHECKPOINT_UNREADABLE.
   */
  readMetadata(checkpoint: StoredCheckpoint): Promise<Uint8Array>;
  /** The bytes behind a handle, verified by length and checksum; CHECKPOINT_UNREADABLE (naming file and checkpoint) otherwise. */
  read(checkpoint: StoredCheckpoint, blob: BlobHandle): Promise<Uint8Array>;
  /**
   * Some of them, for storages that need not read the rest: a job restored at a higher parallelism reads as much as before. Exactly so many bytes,
   * CHECKPOINT_UNREADABLE (naming file and checkpoint) if they are not there. The checksum is of the whole, so whoever reads a part verifies it.
   */
  readPart?(checkpoint: StoredCheckpoint, blob: FileBlob | SharedBlob, part: BlobPart): Promise<Uint8Array>;
  /** The names (`SharedBlob.path`) of all shared files of the job, those included that no checkpoint refers to. There with `capabilities.sharedFiles`. */
  listShared?(): Promise<readonly string[]>;
  /** Deletes a shared file; a missing one is not an error. There with `capabilities.sharedFiles`. */
  deleteShared?(path: string): Promise<void>;
  /** Deletes a checkpoint with all its private files, `_metadata` first, so that a half deleted one never looks complete. Idempotent. Leaves shared files. */
  delete(checkpoint: StoredCheckpoint): Promise<void>;
  /**
   * The mark that all output which a complete checkpoint covers is committed: its bytes, or undefined. It is part of the checkpoint: deleted with
   * it, and found again where a savepoint was moved to.
   */
  readCommitted(checkpoint: StoredCheckpoint): Promise<Uint8Array | undefined>;
  /** Publishes that mark atomically and durably. Fails with STORAGE_FAILED, and leaves nothing, if the checkpoint is not there. */
  writeCommitted(checkpoint: StoredCheckpoint, bytes: Uint8Array): Promise<void>;
  /** The durable mark of a finished job: its bytes, or undefined. */
  readFinished(): Promise<Uint8Array | undefined>;
  /** Publishes the mark atomically and durably. */
  writeFinished(bytes: Uint8Array): Promise<void>;
  /** Removes the mark; a missing one is not an error. */
  clearFinished(): Promise<void>;
  close(): Promise<void>;
  /** Bytes that came in so far, by all reads together. While it grows, no read is given up for taking its time. Absent: only answers are progress. */
  readonly moved?: number | undefined;
}

export interface StoredCheckpoint {
  readonly id: CheckpointId;
  /** What a user passes to `restoreFrom`. */
  readonly pointer: string;
  /** `_metadata` is present. */
  readonly complete: boolean;
}

/** One process's right to write. */
export interface StorageLock {
  /** The largest attempt number that any earlier owner recorded, 0 if none. */
  readonly previousAttempt: AttemptNumber;
  /** Records the attempt that runs now, durably. */
  recordAttempt(attempt: AttemptNumber): Promise<void>;
  /** Fails with STORAGE_FENCED if another process has taken the lock, or another attempt was recorded. */
  verify(): Promise<void>;
  release(): Promise<void>;
}

/** Where the parts of one pending checkpoint are written. */
export interface CheckpointLocation extends StoredCheckpoint {
  /** A new blob; small ones end up inline. */
  createBlob(): BlobWriter;
  /**
   * A new file that later checkpoints may refer to, always a `shared` handle with this key. Two of one key are two files. `discard` removes it;
   * once published it is the coordinator's to delete. There with `capabilities.sharedFiles`, not for savepoints.
   */
  createSharedBlob?(key: string): BlobWriter;
  /** The names (`SharedBlob.path`) of the files made by `createSharedBlob`, also of those that were aborted. */
  readonly sharedFiles?: ReadonlySet<string> | undefined;
  /** Makes the checkpoint complete: atomic and durable, all blobs finished before it. Fails with STORAGE_FAILED if already published. */
  publish(metadata: Uint8Array): Promise<void>;
  /** Removes all that was written. Allowed at any time before publish; later calls on the location and its blobs fail. Idempotent. */
  discard(): Promise<void>;
}
export interface BlobWriter {
  /** Takes over `chunk` (the caller may reuse it after the call only if the promise has settled or nothing was returned). A promise is back-pressure: wait before writing more. */
  write(chunk: Uint8Array): void | Promise<void>;
  /** Durable when settled (STATE_TOO_LARGE where the storage has a limit). */
  finish(): Promise<BlobHandle>;
  /** Forgets and removes what was written. Idempotent. */
  abort(): Promise<void>;
  /** Bytes that have gone out so far. While it grows, no call is given up for taking its time. Absent: only answers are progress. */
  readonly moved?: number | undefined;
}
