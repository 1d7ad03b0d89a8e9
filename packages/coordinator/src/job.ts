import {
  WeirError,
  messageOf,
  type AttemptNumber,
  type CheckpointId,
  type CoordinatorContext,
  type JobStorage,
  type StorageLock,
} from '@weir/core/contracts';
import type { Cleaner } from './cleaning.js';
import type { FailureCounter } from './failure-counter.js';
import type { CompletedCheckpoints } from './completed-checkpoints.js';
import type { SharedFiles } from './shared-files.js';
import type { StatisticsRecorder } from './statistics.js';
import type { UnansweredCalls } from './unanswered.js';

/** Everything that outlives an attempt. */
export interface CheckpointedJob {
  readonly context: CoordinatorContext;
  readonly storage: JobStorage;
  /** Absent where the storage cannot keep a second process out. */
  readonly lock: StorageLock | undefined;
  readonly ledger: CompletedCheckpoints;
  readonly failures: FailureCounter;
  readonly statistics: StatisticsRecorder;
  readonly cleaner: Cleaner;
  readonly shared: SharedFiles;
  readonly unanswered: UnansweredCalls;
  /** Completed checkpoints that hold prepared output of which nobody knows yet that it was published. */
  readonly unpublished: Set<CheckpointId>;
}

/** Another process has taken over; no restart in this one can help. */
export function fenced(context: CoordinatorContext, attempt: AttemptNumber, cause?: unknown): WeirError {
  return new WeirError(
    'STORAGE_FENCED',
    `Attempt ${String(attempt)} of job ${context.job} no longer has the right to write: another attempt or process has taken over.`,
    { cause, recoverable: false },
  );
}

/** Tells whoever watches the job; the engine writes warnings to the log. */
export function warn(context: CoordinatorContext, message: string, error?: unknown): void {
  if (error !== undefined) context.logger.debug({ err: error }, message);
  context.emit({
    kind: 'warning',
    message: error === undefined ? message : `${message} The error: ${messageOf(error)}`,
  });
}
