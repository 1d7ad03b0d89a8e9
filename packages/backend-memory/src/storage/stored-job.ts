import type { AttemptNumber, CheckpointId, JobName, StorageLock, StoredCheckpoint } from '@weir/core/contracts';

/** The bytes of one checkpoint; complete once it has metadata. */
export interface CheckpointBytes {
  readonly blobs: Map<string, Uint8Array>;
  metadata: Uint8Array | undefined;
  /** All output that it covers is committed. */
  committed?: Uint8Array | undefined;
}

/** Savepoints of every job, by their pointers. */
export type StoredSavepoints = Map<string, CheckpointBytes>;

/** Where one checkpoint or savepoint is kept. */
export interface CheckpointPlace {
  readonly id: CheckpointId;
  readonly pointer: string;
  /** As in messages. */
  readonly name: string;
  get(): CheckpointBytes | undefined;
  put(bytes: CheckpointBytes): void;
  remove(): void;
}

/** What is stored of one job. */
export interface StoredJob {
  readonly name: JobName;
  readonly checkpoints: Map<CheckpointId, CheckpointBytes>;
  /** What several checkpoints are made of, by name. */
  readonly shared: Map<string, Uint8Array>;
  /** How many of those there ever were. */
  sharedCount: number;
  finished: Uint8Array | undefined;
  owner: StorageLock | undefined;
  attempt: AttemptNumber;
}

export function emptyJob(name: JobName): StoredJob {
  return {
    name,
    checkpoints: new Map(),
    shared: new Map(),
    sharedCount: 0,
    finished: undefined,
    owner: undefined,
    attempt: 0,
  };
}

export function pointerTo(job: StoredJob, id: CheckpointId): string {
  return `memory:${encodeURIComponent(job.name)}/chk-${id}`;
}

export function checkpointPlace(job: StoredJob, id: CheckpointId): CheckpointPlace {
  const { checkpoints } = job;
  return {
    id,
    pointer: pointerTo(job, id),
    name: nameOf(job, id),
    get: () => checkpoints.get(id),
    put: (bytes) => void checkpoints.set(id, bytes),
    remove: () => void checkpoints.delete(id),
  };
}

export function savepointPlace(
  { name: job }: StoredJob,
  savepoints: StoredSavepoints,
  id: CheckpointId,
  pointer: string,
): CheckpointPlace {
  return {
    id,
    pointer,
    name: `savepoint ${id} of job ${job}`,
    get: () => savepoints.get(pointer),
    put: (bytes) => void savepoints.set(pointer, bytes),
    remove: () => void savepoints.delete(pointer),
  };
}

export function describe(job: StoredJob, id: CheckpointId): StoredCheckpoint {
  return { id, pointer: pointerTo(job, id), complete: job.checkpoints.get(id)?.metadata !== undefined };
}

/** As in messages. */
export function nameOf(job: StoredJob, id: CheckpointId): string {
  return `checkpoint ${id} of job ${job.name}`;
}
