import type { AttemptNumber, CheckpointId, JobName, StorageLock, StoredCheckpoint } from '@weir/core/contracts';

/** The bytes of one checkpoint; complete once it has metadata. */
export interface CheckpointBytes {
  readonly blobs: Map<string, Uint8Array>;
  metadata: Uint8Array | undefined;
}

/** What is stored of one job. */
export interface StoredJob {
  readonly name: JobName;
  readonly checkpoints: Map<CheckpointId, CheckpointBytes>;
  finished: Uint8Array | undefined;
  owner: StorageLock | undefined;
  attempt: AttemptNumber;
}

export function emptyJob(name: JobName): StoredJob {
  return { name, checkpoints: new Map(), finished: undefined, owner: undefined, attempt: 0 };
}

export function pointerTo(job: StoredJob, id: CheckpointId): string {
  return `memory:${encodeURIComponent(job.name)}/chk-${id}`;
}

export function describe(job: StoredJob, id: CheckpointId): StoredCheckpoint {
  return { id, pointer: pointerTo(job, id), complete: job.checkpoints.get(id)?.metadata !== undefined };
}

/** As in messages. */
export function nameOf(job: StoredJob, id: CheckpointId): string {
  return `checkpoint ${id} of job ${job.name}`;
}
