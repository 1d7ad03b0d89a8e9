import {
  WeirError,
  classifyFailure,
  type AttemptNumber,
  type CheckpointId,
  type CheckpointIdentity,
  type CheckpointMetadata,
  type CoordinatorContext,
  type JobStorage,
  type RestoreFrom,
  type StartDecision,
  type StorageLock,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { decodeFinished, type FinishedMarker } from './finished-marker.js';
import { warn } from './job.js';
import { nextCheckpointId } from './next-id.js';
import { admit, chooseRecovery, compareWithNewest, type RestoreChoice } from './recovery-choice.js';
import { fit, identify, openCheckpoint } from './restore.js';
import type { CompletedCheckpoint } from './retention.js';

/** The job's part of the storage, with the right to write to it. */
export interface OpenStorage {
  readonly storage: JobStorage;
  readonly lock: StorageLock | undefined;
}

/** Where a starting job stands. */
export interface StartingPoint {
  readonly decision: StartDecision;
  /** What the job can fall back to, oldest first; the last is what it restores. */
  readonly completed: readonly CompletedCheckpoint[];
  /** Every complete checkpoint in the job's directory, whosoever it is, ascending by id. */
  readonly present: readonly StoredCheckpoint[];
  /** Checkpoints of this history in the job's directory that a user has restored without giving them up: nobody removes them. */
  readonly keptForUser: readonly CheckpointId[];
  /** What nobody will ask for again: remains of dead attempts, and all there is of a job that has finished. */
  readonly leftOver: readonly StoredCheckpoint[];
  readonly nextId: number;
  /** The largest attempt number known from anywhere. */
  readonly lastAttempt: AttemptNumber;
  /** There is a mark of an earlier end, and it does not hold any more. */
  readonly clearsFinished: boolean;
  /** The restored checkpoint, if it holds prepared output: the attempt publishes it before it runs. */
  readonly unpublished: readonly CheckpointId[];
}

/** Opens the storage and keeps every other process away from it, where the storage can. */
export async function openStorage(context: CoordinatorContext, signal: AbortSignal): Promise<OpenStorage> {
  const { job, clock, logger, settings } = context;
  refuseUnshared(context);
  const storage = await context.storage.open({ job, clock, logger });
  if (!context.storage.capabilities.locks) return { storage, lock: undefined };
  try {
    return { storage, lock: await storage.lock({ waitMs: settings.lockTimeoutMs, signal }) };
  } catch (error) {
    await closeStorage({ storage, lock: undefined }, context);
    throw error;
  }
}

/** After a start that failed: what fails now is no news beside that. */
export async function closeStorage({ storage, lock }: OpenStorage, { job, logger }: CoordinatorContext): Promise<void> {
  for (const step of [() => lock?.release(), () => storage.close()]) {
    try {
      await step();
    } catch (error) {
      logger.warn({ err: error, job }, 'closing the checkpoint storage after a failed start failed, too');
    }
  }
}

function refuseUnshared({ job, settings, storage }: CoordinatorContext): void {
  if (!settings.incremental || storage.capabilities.sharedFiles === true) return;
  throw new WeirError(
    'CONFIG_CONTRADICTION',
    `Job ${job} has incremental checkpoints, and in its checkpoint storage (${storage.type}) checkpoints have no files in common. Use another storage, or leave incremental out.`,
    { recoverable: false },
  );
}

/** Looks at what is stored and decides what to start from. Changes nothing, so a start that is refused can be tried again differently. */
export async function findStartingPoint(
  context: CoordinatorContext,
  { storage, lock }: OpenStorage,
  restoreFrom: RestoreFrom,
): Promise<StartingPoint> {
  const stored = await storage.list();
  const mark = await storage.readFinished();
  const finished = readMark(context, mark, restoreFrom);
  const named =
    typeof restoreFrom === 'object' && 'path' in restoreFrom ? await storage.resolve(restoreFrom.path) : undefined;
  const { claimMode } = context.settings;
  const choice = chooseRecovery(context.job, restoreFrom, { stored, finished, named, claimMode });

  const completed = stored.filter((c) => c.complete);
  // Without a lock they may be what another process is writing right now.
  const incomplete = lock === undefined ? [] : stored.filter((c) => !c.complete);
  const present = [...stored.map((c) => c.id), finished?.checkpointId ?? 0];
  const lastAttempt = Math.max(lock?.previousAttempt ?? 0, finished?.attempt ?? 0);

  switch (choice.kind) {
    case 'already-finished': {
      const { lineage, keptForUser } = choice.marker;
      const own = await ofLineage(context, storage, completed, { lineage, keptForUser });
      return {
        decision: { kind: 'already-finished', lineage },
        completed: [],
        present: completed,
        keptForUser,
        leftOver: [...incomplete, ...own.map((c) => c.stored)],
        nextId: nextCheckpointId({ restored: undefined, present, committables: [] }),
        lastAttempt,
        clearsFinished: false,
        unpublished: [],
      };
    }
    case 'fresh': {
      const { reason, left } = choice;
      if (left.length > 0) warn(context, `Job ${context.job} starts afresh. ${stay(left)}`);
      return {
        decision: { kind: 'fresh', lineage: context.newId(), reason },
        completed: [],
        present: completed,
        keptForUser: [],
        leftOver: incomplete,
        nextId: nextCheckpointId({ restored: undefined, present, committables: [] }),
        lastAttempt,
        clearsFinished: mark !== undefined,
        unpublished: [],
      };
    }
    case 'restore': {
      const { checkpoint, isClaimed } = choice;
      const others = completed.filter((c) => c.pointer !== checkpoint.pointer);
      const open = await openCheckpoint({ stored: checkpoint, others }, storage, context);
      const { metadata } = open;
      checkIdentity(context, choice, metadata, completed);
      const placed = await inPlace(choice, metadata, storage, { finished, others });
      const { newer, keepsLineage } = placed;
      admit(placed, metadata, context);
      const { unclaimed } = fit(context, metadata);
      if (unclaimed.length > 0)
        warn(context, `Job ${context.job} leaves ${unclaimed.join(', ')} behind, which no operator claims.`);
      const lineage = keepsLineage ? metadata.lineage : context.newId();
      const { checkpointId } = metadata;
      const { pointer } = open.stored;
      // A savepoint that was stopped with continues the history, too, under whatever path it is found.
      const continues = isClaimed || keepsLineage !== choice.keepsLineage;
      const isElsewhere = !completed.some((c) => c.pointer === checkpoint.pointer);
      const keptForUser = keepsLineage ? keptIn(metadata, isClaimed || isElsewhere, present) : [];
      const older = continues ? await ofLineage(context, storage, others, { lineage, keptForUser }) : [];
      // The folder of a user's checkpoint need not tell its id.
      const restored = { ...checkpoint, id: checkpointId };
      if (newer !== undefined)
        warn(
          context,
          `Job ${context.job} goes back to checkpoint ${String(checkpointId)}, behind ${newer}. ${stay(others)}`,
        );
      return {
        decision: { kind: 'restore', lineage, checkpointId, pointer },
        completed: [...older, { checkpointId, stored: restored, owner: isClaimed ? 'job' : 'user', isElsewhere }],
        present: completed,
        keptForUser,
        leftOver: incomplete,
        nextId: nextCheckpointId({ restored: checkpointId, present, committables: committablesIn(metadata) }),
        lastAttempt: Math.max(lastAttempt, metadata.attempt),
        clearsFinished: mark !== undefined,
        unpublished: committablesIn(metadata).some((newest) => newest > 0) ? [checkpointId] : [],
      };
    }
  }
}

/** Where a checkpoint stands that a path named, beside the newest of the job's own directory. What was chosen there needs no further look. */
async function inPlace(
  choice: RestoreChoice,
  metadata: CheckpointMetadata,
  storage: JobStorage,
  { finished, others }: { readonly finished: FinishedMarker | undefined; readonly others: readonly StoredCheckpoint[] },
): Promise<RestoreChoice> {
  const newest = others.at(-1);
  if (finished !== undefined || newest === undefined) return choice;
  let identity: CheckpointIdentity;
  try {
    identity = await identify(newest, storage);
  } catch (error) {
    if (classifyFailure(error) === 'transient') throw error;
    // Nothing is then known to be later than it.
    return { ...choice, unread: error };
  }
  return compareWithNewest(choice, metadata, identity);
}

function readMark(
  { job }: CoordinatorContext,
  mark: Uint8Array | undefined,
  restoreFrom: RestoreFrom,
): FinishedMarker | undefined {
  try {
    return mark === undefined ? undefined : decodeFinished(mark, job);
  } catch (error) {
    // Whoever wants to start afresh does not care what it said.
    if (restoreFrom === 'none') return undefined;
    throw error;
  }
}

/** Those that belong to one history of the job. One that cannot be read is not claimed, and so never removed. */
async function ofLineage(
  context: CoordinatorContext,
  storage: JobStorage,
  completed: readonly StoredCheckpoint[],
  { lineage, keptForUser }: Pick<FinishedMarker, 'lineage' | 'keptForUser'>,
): Promise<readonly CompletedCheckpoint[]> {
  const claimed: CompletedCheckpoint[] = [];
  for (const stored of completed) {
    try {
      const identity = await identify(stored, storage);
      if (identity.lineage === lineage && !keptForUser.includes(identity.checkpointId))
        claimed.push({ checkpointId: identity.checkpointId, stored, owner: 'job' });
    } catch (error) {
      warn(context, `The older checkpoint at ${stored.pointer} cannot be read; it is left where it is.`, error);
    }
  }
  return claimed;
}

/** What was kept for a user so far and is still there, and what is restored now, if it is the user's. */
function keptIn(
  { checkpointId, keptForUser = [] }: CheckpointMetadata,
  isOfJob: boolean,
  present: readonly CheckpointId[],
): readonly CheckpointId[] {
  return [...keptForUser.filter((id) => present.includes(id)), ...(isOfJob ? [] : [checkpointId])];
}

/** A checkpoint that was copied to another one's place in the job's own directory would pass for newer than it is. */
function checkIdentity(
  { job }: CoordinatorContext,
  { checkpoint }: RestoreChoice,
  metadata: CheckpointMetadata,
  own: readonly StoredCheckpoint[],
): void {
  const isOwn = own.some((c) => c.pointer === checkpoint.pointer);
  if (!isOwn || metadata.checkpointId === checkpoint.id) return;
  throw new WeirError(
    'CHECKPOINT_UNREADABLE',
    `The checkpoint at ${checkpoint.pointer} of job ${job} is a copy of checkpoint ${String(metadata.checkpointId)}. Remove it, or restore it by its path from outside the job's directory.`,
    { recoverable: false },
  );
}

function committablesIn(metadata: CheckpointMetadata): readonly number[] {
  return metadata.operators.flatMap((o) => o.subtasks.map((s) => s.committables?.newest ?? 0));
}

function stay(left: readonly StoredCheckpoint[]): string {
  return `Its older history stays where it is and is never removed by this run: ${left.map((c) => c.pointer).join(', ') || 'nothing'}.`;
}
