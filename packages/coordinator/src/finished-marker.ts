import { WeirError, type AttemptNumber, type CheckpointId, type JobName, type Lineage } from '@weir/core/contracts';

/** What `_finished` says about a job that ran to its end. */
export interface FinishedMarker {
  readonly job: JobName;
  readonly lineage: Lineage;
  readonly attempt: AttemptNumber;
  /** The last completed checkpoint, 0 without any. */
  readonly checkpointId: CheckpointId;
  /** Epoch ms. */
  readonly finishedAt: number;
}

const FORMAT = 'weir-finished';
const VERSION = 1;

/** JSON, so that a person can read it. */
export function encodeFinished(marker: FinishedMarker): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ format: FORMAT, version: VERSION, ...marker })}\n`);
}

/** Fails with CHECKPOINT_UNREADABLE: whether the job has finished must not be guessed. */
export function decodeFinished(bytes: Uint8Array, job: JobName): FinishedMarker {
  const { format, version, lineage, attempt, checkpointId, finishedAt, ...rest } = parse(bytes);
  if (format !== FORMAT) throw unreadable(job, 'is damaged');
  if (version !== VERSION)
    throw unreadable(job, `has version ${String(version)}, this weir reads version ${String(VERSION)}`);
  if (
    typeof lineage !== 'string' ||
    typeof attempt !== 'number' ||
    typeof checkpointId !== 'number' ||
    typeof finishedAt !== 'number'
  ) {
    throw unreadable(job, 'is damaged');
  }
  if (rest['job'] !== job) throw unreadable(job, `is that of job ${String(rest['job'])}`);
  return { job, lineage, attempt, checkpointId, finishedAt };
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function unreadable(job: JobName, fault: string): WeirError {
  return new WeirError(
    'CHECKPOINT_UNREADABLE',
    `The mark that job ${job} has finished ${fault}. Start with restoreFrom 'none' to run it again from the beginning.`,
    { recoverable: false },
  );
}
