import {
  WeirError,
  decodeRecord,
  encodeRecord,
  isCount,
  type AttemptNumber,
  type CheckpointId,
  type JobName,
  type Lineage,
} from '@weir/core/contracts';

/** What `_finished` says about a job that ran to its end. */
export interface FinishedMarker {
  readonly job: JobName;
  readonly lineage: Lineage;
  readonly attempt: AttemptNumber;
  /** The last completed checkpoint, 0 without any. */
  readonly checkpointId: CheckpointId;
  /** Epoch ms. */
  readonly finishedAt: number;
  /** As in the metadata of its checkpoints. */
  readonly keptForUser: readonly CheckpointId[];
}

const FORMAT = 'weir-finished';
const VERSION = 2;

export function encodeFinished(marker: FinishedMarker): Uint8Array {
  return encodeRecord(FORMAT, VERSION, marker);
}

/** Fails with CHECKPOINT_UNREADABLE: whether the job has finished must not be guessed. */
export function decodeFinished(bytes: Uint8Array, job: JobName): FinishedMarker {
  const { fields, fault } = decodeRecord(bytes, FORMAT, VERSION);
  if (fields === undefined) throw unreadable(job, fault);
  const { lineage, attempt, checkpointId, finishedAt, keptForUser = [] } = fields;
  if (
    typeof lineage !== 'string' ||
    !isCount(attempt) ||
    !isCount(checkpointId) ||
    typeof finishedAt !== 'number' ||
    !Array.isArray(keptForUser) ||
    !keptForUser.every(isCount)
  ) {
    throw unreadable(job, 'makes no sense');
  }
  if (fields['job'] !== job) throw unreadable(job, `is that of job ${String(fields['job'])}`);
  return { job, lineage, attempt, checkpointId, finishedAt, keptForUser };
}

function unreadable(job: JobName, fault: string): WeirError {
  return new WeirError(
    'CHECKPOINT_UNREADABLE',
    `The mark that job ${job} has finished ${fault}. Start with restoreFrom 'none' to run it again from the beginning.`,
    { recoverable: false },
  );
}
