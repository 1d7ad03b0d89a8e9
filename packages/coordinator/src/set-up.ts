import {
  WeirError,
  barrier,
  type AttemptGateway,
  type Barrier,
  type CheckpointLocation,
  type CheckpointSettings,
  type JobStorage,
} from '@weir/core/contracts';
import type { PendingCheckpoint } from './pending-checkpoint.js';

/** Makes the location of a checkpoint, or of a savepoint in the user's directory. One that comes only after the checkpoint was given up is handed to `discard`. */
export async function createLocation(
  pending: PendingCheckpoint,
  storage: JobStorage,
  discard: (location: CheckpointLocation) => void,
): Promise<void> {
  const { id, savepoint } = pending;
  const location = await (savepoint === undefined
    ? storage.create(id)
    : storage.createSavepoint?.(id, savepoint.directory));
  if (location === undefined) throw new WeirError('PROTOCOL_VIOLATION', 'The checkpoint storage has no savepoints.');
  if (pending.isOpen()) pending.location = location;
  else discard(location);
}

/**
 * From location to barriers (Flink: CheckpointCoordinator.startTriggeringCheckpoint). Enumerators are snapshotted strictly before the barriers
 * leave, so that no split is given out that neither side counts. A checkpoint given up in between goes no further.
 */
export async function sendBarriers(
  pending: PendingCheckpoint,
  gateway: AttemptGateway,
  settings: CheckpointSettings,
): Promise<void> {
  const { location } = pending;
  if (location === undefined || !pending.isOpen()) return;
  const enumerators = await gateway.snapshotEnumerators(pending.id);
  if (!pending.isOpen()) return;
  pending.enumerators = enumerators;
  pending.exempt(gateway.finished);
  // Before the barriers, because subtasks may answer at once.
  pending.phase = 'collecting';
  gateway.trigger(barrierOf(pending, settings), location);
}

function barrierOf({ id, triggeredAt, savepoint }: PendingCheckpoint, settings: CheckpointSettings): Barrier {
  if (savepoint !== undefined) return barrier(id, triggeredAt, 'savepoint', savepoint.stop);
  return {
    ...barrier(id, triggeredAt),
    ...(settings.unaligned ? { overtakesAfter: settings.alignedTimeoutMs } : {}),
    ...(settings.incremental ? { isIncremental: true } : {}),
  };
}
