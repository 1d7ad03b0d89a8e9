import {
  WeirError,
  classifyFailure,
  decodeMetadata,
  decodeReference,
  identityOf,
  isSame,
  isWeirError,
  messageOf,
  type CheckpointIdentity,
  type CheckpointMetadata,
  type CoordinatorContext,
  type JobStorage,
  type PlanDescription,
  type RestorePlan,
  type SavepointReference,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { holdsCommittables, isCommitted, withoutCommittables } from './committed-mark.js';
import { assignState, type StateAssignment } from './compatibility.js';
import { checkFinished, finishedSubtasks } from './finished-subtasks.js';
import { adoptMaxParallelism, maxParallelismOf } from './max-parallelism.js';
import { choicesAmong } from './recovery-choice.js';
import type { CompletedCheckpoint } from './retention.js';
import { claimedState } from './unclaimed-state.js';

/** A checkpoint to restore, and what a user may choose instead should it turn out damaged. */
export interface Restorable {
  readonly stored: StoredCheckpoint;
  readonly others: readonly StoredCheckpoint[];
}

/** A checkpoint whose metadata was read. */
export interface OpenCheckpoint {
  /** Where its bytes are: for a savepoint that the job's directory only refers to, that savepoint. */
  readonly stored: StoredCheckpoint;
  readonly metadata: CheckpointMetadata;
  readonly others: readonly StoredCheckpoint[];
}

/** Reads `_metadata`, and leaves out of it what `_committed` says is committed. Damage is CHECKPOINT_UNREADABLE naming the others: never a silent fall-back to an older one, never a fresh start. */
export function openCheckpoint(
  { stored, others }: Restorable,
  storage: JobStorage,
  { job }: CoordinatorContext,
): Promise<OpenCheckpoint> {
  return namingOthers(job, stored, others, async () => {
    const bytes = await storage.readMetadata(stored);
    const reference = decodeReference(bytes, stored.pointer);
    if (reference === undefined) return opened(stored, decodeMetadata(bytes, stored.pointer));
    const savepoint = await follow(reference, storage);
    const metadata = decodeMetadata(await storage.readMetadata(savepoint), savepoint.pointer);
    if (isSame(metadata, reference)) return opened(savepoint, metadata);
    throw elsewhere(reference.pointer);
  });

  async function opened(at: StoredCheckpoint, metadata: CheckpointMetadata): Promise<OpenCheckpoint> {
    const isDone = holdsCommittables(metadata) && (await isCommitted(metadata, at, storage));
    return { stored: at, others, metadata: isDone ? withoutCommittables(metadata) : metadata };
  }
}

async function follow({ pointer }: SavepointReference, storage: JobStorage): Promise<StoredCheckpoint> {
  try {
    return await storage.resolve(pointer);
  } catch (cause) {
    if (!isWeirError(cause, 'CHECKPOINT_NONE')) throw cause;
    throw elsewhere(pointer, cause);
  }
}

function elsewhere(pointer: string, cause?: unknown): WeirError {
  return new WeirError(
    'CHECKPOINT_UNREADABLE',
    `it is the savepoint that was at ${pointer}, and is not there any more: if it was moved, start with restoreFrom set to its present path; if it is lost, with 'none'`,
    { cause, recoverable: false },
  );
}

/** Which checkpoint it is, without a look at the savepoint if it is only a reference to one. */
export async function identify(stored: StoredCheckpoint, storage: JobStorage): Promise<CheckpointIdentity> {
  const bytes = await storage.readMetadata(stored);
  return identityOf(decodeReference(bytes, stored.pointer) ?? decodeMetadata(bytes, stored.pointer));
}

/** Who restores what, and the plan as it then runs. Fails as {@link fit} if the checkpoint does not fit the plan. */
export function planRestore(
  { stored, metadata, others }: OpenCheckpoint,
  /** As the ledger has it. */
  { owner, isElsewhere = false }: Pick<CompletedCheckpoint, 'owner' | 'isElsewhere'>,
  storage: JobStorage,
  context: CoordinatorContext,
): { readonly restore: RestorePlan; readonly plan: PlanDescription } {
  const { plan, assignment } = fit(context, metadata);
  const readPart = storage.readPart?.bind(storage);
  const restore: RestorePlan = {
    checkpointId: metadata.checkpointId,
    lineage: metadata.lineage,
    pointer: stored.pointer,
    ...assignment,
    finished: finishedSubtasks(plan, metadata),
    maxParallelism: maxParallelismOf(metadata),
    // A savepoint is the user's, also where the job's own folder refers to it, and no checkpoint refers to files in another job's folder.
    isOwned: owner === 'job' && !isElsewhere && metadata.kind === 'checkpoint',
    read: (blob) => namingOthers(context.job, stored, others, () => storage.read(stored, blob)),
    readPart:
      readPart && ((blob, part) => namingOthers(context.job, stored, others, () => readPart(stored, blob, part))),
  };
  return { restore, plan };
}

/** Makes the plan and what is stored meet; CHECKPOINT_INCOMPATIBLE or CHECKPOINT_MAX_PARALLELISM where they cannot. */
export function fit(
  { plan, settings }: CoordinatorContext,
  metadata: CheckpointMetadata,
): {
  readonly plan: PlanDescription;
  readonly assignment: StateAssignment;
  /** What is left behind, and whose it was. */
  readonly unclaimed: readonly string[];
} {
  const fitting = adoptMaxParallelism(plan, metadata);
  checkFinished(fitting, metadata);
  const claimed = claimedState(plan, metadata, settings);
  return { plan: fitting, assignment: assignState(fitting, claimed.metadata), unclaimed: claimed.unclaimed };
}

async function namingOthers<T>(
  job: string,
  stored: StoredCheckpoint,
  others: readonly StoredCheckpoint[],
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isWeirError(error, 'CHECKPOINT_UNREADABLE')) throw error;
    // Of a storage that calls everything damage: what passes by itself is no reason to take another checkpoint.
    if (classifyFailure(error) === 'transient') throw notNow(job, stored, error);
    throw new WeirError(
      'CHECKPOINT_UNREADABLE',
      `The checkpoint at ${stored.pointer} of job ${job} cannot be restored (${messageOf(error)}). ${choicesAmong(others)}`,
      { cause: error, recoverable: false },
    );
  }
}

function notNow(job: string, { pointer }: StoredCheckpoint, cause: WeirError): WeirError {
  const message = `The checkpoint at ${pointer} of job ${job} cannot be read now (${messageOf(cause)}).`;
  return new WeirError('STORAGE_FAILED', message, { cause });
}
