import type { StopSavepoint } from '@weir/core/contracts';
import type { AttemptCheckpoints } from './attempt-checkpoints.js';
import type { SavepointWish } from './savepoint.js';

/** The savepoint a job stops with. No periodic checkpoint starts from here on, unless it fails and the job goes on (Flink: StopWithSavepointTerminationHandlerImpl). */
export async function stopWithSavepoint(attempt: AttemptCheckpoints, wish: SavepointWish): Promise<StopSavepoint> {
  attempt.stopPeriodic();
  try {
    return await attempt.request('stop', wish);
  } catch (error) {
    if (!attempt.signal.aborted) attempt.startPeriodic();
    throw error;
  }
}
