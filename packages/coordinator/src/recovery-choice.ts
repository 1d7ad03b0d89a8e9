import {
  WeirError,
  isSame,
  messageOf,
  type CheckpointIdentity,
  type CheckpointMetadata,
  type ClaimMode,
  type CoordinatorContext,
  type JobName,
  type OperatorUid,
  type PlanDescription,
  type RestoreFrom,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import type { FinishedMarker } from './finished-marker.js';
import { isAtLeast } from './is-at-least.js';

/** What a starting job finds. */
export interface Found {
  /** Every location in the job's own directory. */
  readonly stored: readonly StoredCheckpoint[];
  readonly finished: FinishedMarker | undefined;
  /** What a given path names. */
  readonly named: StoredCheckpoint | undefined;
  /** Whose that is from now on. */
  readonly claimMode: ClaimMode;
}

export type RecoveryChoice =
  | { readonly kind: 'already-finished'; readonly marker: FinishedMarker }
  | {
      readonly kind: 'fresh';
      readonly reason: string;
      /** Completed checkpoints that are neither restored nor, by this run, removed. */
      readonly left: readonly StoredCheckpoint[];
    }
  | RestoreChoice;

export interface RestoreChoice {
  readonly kind: 'restore';
  readonly checkpoint: StoredCheckpoint;
  /** The job owns what it claims, and removes it when it is superfluous. What is not claimed is the user's. */
  readonly isClaimed: boolean;
  /** Whose committed output a restore would repeat; absent if nothing newer completed. */
  readonly newer: string | undefined;
  /** Why it cannot be told whether `newer` is newer indeed. */
  readonly unread?: unknown;
  /** The newest completed checkpoint of this job's own directory continues its history; anything else begins another. */
  readonly keepsLineage: boolean;
}

/**
 * What to start from. Throws CHECKPOINT_NONE when what was asked for does not exist; what exists may still be refused by {@link admit}.
 *
 * | restoreFrom | nothing stored | completed checkpoints stored | finished |
 * | --- | --- | --- | --- |
 * | auto | fresh | the newest, claimed | already finished |
 * | latest | CHECKPOINT_NONE | the newest, claimed | CHECKPOINT_NONE |
 * | none | fresh | fresh, all are left as they are | fresh |
 * | checkpointId | CHECKPOINT_NONE | that one; claimed if it is the newest | that one, if it is still there |
 * | path | what it names, claimed if `claimMode` says so | the same | the same |
 */
export function chooseRecovery(job: string, restoreFrom: RestoreFrom, found: Found): RecoveryChoice {
  const completed = found.stored.filter((c) => c.complete).toSorted((a, b) => a.id - b.id);
  const newest = completed.at(-1);

  if (restoreFrom === 'none') return { kind: 'fresh', reason: "restoreFrom is 'none'", left: completed };
  if (restoreFrom === 'auto' || restoreFrom === 'latest') {
    if (found.finished !== undefined) {
      if (restoreFrom === 'auto') return { kind: 'already-finished', marker: found.finished };
      throw none(`Job ${job} has finished, there is nothing to resume. Start with restoreFrom 'none' to run it again.`);
    }
    if (newest !== undefined) {
      return { kind: 'restore', checkpoint: newest, isClaimed: true, newer: undefined, keepsLineage: true };
    }
    if (restoreFrom === 'auto') return { kind: 'fresh', reason: 'there is no completed checkpoint', left: [] };
    throw none(
      `Job ${job} has no completed checkpoint to restore. Check that the directory is the right one, or start with restoreFrom 'auto' or 'none'.`,
    );
  }

  const checkpoint = 'path' in restoreFrom ? found.named : completed.find((c) => c.id === restoreFrom.checkpointId);
  if (checkpoint === undefined) {
    const asked = 'path' in restoreFrom ? `at ${restoreFrom.path}` : String(restoreFrom.checkpointId);
    throw none(`Job ${job} has no completed checkpoint ${asked}. ${choicesAmong(completed)}`);
  }
  const isNewest = checkpoint.pointer === newest?.pointer;
  return {
    kind: 'restore',
    checkpoint,
    isClaimed: 'path' in restoreFrom ? found.claimMode === 'claim' : isNewest,
    newer: newerThan(checkpoint, newest, found.finished),
    keepsLineage: isNewest && found.finished === undefined,
  };
}

/**
 * What a path leads to may be the later of the two, or the very savepoint that the newest checkpoint of the job's own directory refers to:
 * only their metadata tells.
 */
export function compareWithNewest(
  choice: RestoreChoice,
  metadata: CheckpointMetadata,
  newest: CheckpointIdentity,
): RestoreChoice {
  if (choice.keepsLineage || !isAtLeast(metadata, newest)) return choice;
  return { ...choice, newer: undefined, keepsLineage: isSame(metadata, newest) };
}

/** Refuses to restore what belongs to another job, is not what its place says, or would repeat output that cannot be taken back. */
export function admit(choice: RestoreChoice, metadata: CheckpointMetadata, context: CoordinatorContext): void {
  const { job, plan, settings } = context;
  const { checkpoint, newer, unread } = choice;
  requireSameJob(metadata, checkpoint, job);
  const showing = showingSinks(plan);
  if (newer === undefined || settings.allowDuplicates || showing.length === 0) return;
  throw new WeirError(
    'CHECKPOINT_NOT_NEWEST',
    `Restoring checkpoint ${String(metadata.checkpointId)} of job ${job} would repeat the output of ${newer}, and sink ${showing.join(', ')} cannot take it back. ` +
      "Restore 'latest', or set allowDuplicates to accept the repetition." +
      (unread === undefined
        ? ''
        : ` Whether that is so cannot be told, for ${newer} cannot be read: ${messageOf(unread)}`),
    { cause: unread, recoverable: false },
  );
}

/** CHECKPOINT_INCOMPATIBLE for a checkpoint of another job. */
export function requireSameJob(metadata: CheckpointMetadata, { pointer }: StoredCheckpoint, job: JobName): void {
  if (metadata.job === job) return;
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `The checkpoint at ${pointer} belongs to job ${metadata.job}, not to job ${job}.`,
    { recoverable: false },
  );
}

/** Sinks that a repetition can be seen behind. */
export function showingSinks(plan: PlanDescription): readonly OperatorUid[] {
  return plan.stages
    .flatMap((stage) => stage.operators)
    .filter((o) => o.sinkGrade !== undefined && o.sinkGrade !== 'idempotent')
    .map((o) => o.uid);
}

/** What a user may choose from, for a message. */
export function choicesAmong(completed: readonly StoredCheckpoint[]): string {
  if (completed.length === 0) return 'There is no other completed checkpoint in its directory.';
  const ids = completed.map((c) => String(c.id));
  return `Completed checkpoints in its directory: ${ids.join(', ')}; choose one with restoreFrom { checkpoint: ${ids.at(-1) ?? ''} }.`;
}

function newerThan(
  checkpoint: StoredCheckpoint,
  newest: StoredCheckpoint | undefined,
  finished: FinishedMarker | undefined,
): string | undefined {
  if (finished !== undefined) return 'the whole run, which has finished';
  // One from another place is of another history: whatever completed here counts as newer.
  if (newest === undefined || checkpoint.pointer === newest.pointer) return undefined;
  return `checkpoint ${String(newest.id)}`;
}

function none(message: string): WeirError {
  return new WeirError('CHECKPOINT_NONE', message, { recoverable: false });
}
