import { sleep, type Clock } from '@weir/core/contracts';
import type { AttemptCheckpoints } from './attempt-checkpoints.js';
import type { Completion } from './completion.js';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;

/**
 * Takes the last checkpoint of a job and waits for its commits. Tries again, with a growing delay, for as long as failures are tolerated;
 * rejects once they are not, or when the attempt ends. Periodic checkpoints stop, for they would cover nothing that this one does not.
 */
export async function takeFinalCheckpoint(attempt: AttemptCheckpoints, clock: Clock): Promise<void> {
  attempt.stopPeriodic();
  // Each of them finished behind a checkpoint that covers all it did, and its output is committed.
  if (attempt.gateway.subtasks.length === attempt.gateway.finished.size) return;
  const { committed } = await completed(attempt, clock);
  await committed;
}

async function completed(attempt: AttemptCheckpoints, clock: Clock): Promise<Completion> {
  for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
    try {
      return await attempt.request('final');
    } catch (error) {
      if (attempt.failure !== undefined) throw attempt.failure;
      if (attempt.signal.aborted) throw error;
      await sleep(clock, delayMs, attempt.signal);
    }
  }
}
