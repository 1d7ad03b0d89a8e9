import { WeirError } from '@weir/core/contracts';
import type { CheckpointStorage, JobName } from '@weir/core/contracts';
import { MemoryJobStorage } from './memory-job-storage.js';
import { emptyJob } from './stored-job.js';
import type { StoredJob, StoredSavepoints } from './stored-job.js';

export interface MemoryStorageOptions {
  /** The most bytes of one part of a checkpoint, which is an operator's state in one subtask. Default 5 MiB, as in Flink. */
  readonly maxStateSize?: number | undefined;
}

export const DEFAULT_MAX_STATE_SIZE: number = 5 * 1024 * 1024;

/**
 * Checkpoints in the memory of the process (Flink: the jobmanager storage). They last as long as the returned object, over any number of
 * runs of a job; a new process finds nothing. A part above the limit fails its checkpoint with STATE_TOO_LARGE.
 */
export function createMemoryStorage({
  maxStateSize = DEFAULT_MAX_STATE_SIZE,
}: MemoryStorageOptions = {}): CheckpointStorage {
  if (!Number.isSafeInteger(maxStateSize) || maxStateSize < 1) {
    throw new WeirError('CONFIG_INVALID', `maxStateSize must be a number of bytes, not ${maxStateSize}.`, {
      recoverable: false,
    });
  }
  const jobs = new Map<JobName, StoredJob>();
  const savepoints: StoredSavepoints = new Map();
  return {
    type: 'memory',
    capabilities: { durable: false, locks: false, savepoints: true, sharedFiles: true },
    async open({ job }) {
      const stored = jobs.get(job) ?? emptyJob(job);
      jobs.set(job, stored);
      return new MemoryJobStorage(stored, savepoints, maxStateSize);
    },
  };
}
