import type { StopSavepoint } from '@weir/core/contracts';
import type { AttemptCheckpoints } from './attempt-checkpoints.js';
import type { SavepointWish } from './savepoint.js';

/**
 * The savepoint a job stops with. It waits for no periodic checkpoint: those under way are given up, and none starts from here on, unless it fails
 * and the job goes on (Flink: CheckpointCoordinator.stopCheckpointScheduler, StopWithSavepointTerminationHandlerImpl).
 */
export async function stopWithSavepoint(attempt: AttemptCheckpoints, wish: SavepointWish): Promise<StopSavepoint> {
  attempt.abortPeriodic();
  try {
    return await attempt.request('stop', wish);
  } catch (error) {
    if (!attempt.signal.aborted) attempt.startPeriodic();
    throw error;
  }
}
