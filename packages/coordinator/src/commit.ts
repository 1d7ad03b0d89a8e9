import {
  untilAborted,
  type AttemptGateway,
  type CheckpointId,
  type CheckpointLocation,
  type CheckpointMetadata,
} from '@weir/core/contracts';
import type { CommitWatch } from './commit-watch.js';
import { encodeCommitted } from './committed-mark.js';
import type { CheckpointedJob } from './job.js';
import { within } from './within.js';

/** Output that is committed is not kept from being told so for longer. */
const MARK_MS = 10_000;

interface Committing {
  readonly id: CheckpointId;
  readonly location: CheckpointLocation;
  readonly metadata: CheckpointMetadata;
  readonly committables: number;
}

/** What committing needs of the running attempt. */
export interface CommittingAttempt {
  readonly gateway: AttemptGateway;
  /** Aborts when the attempt ends. */
  readonly signal: AbortSignal;
  readonly commits: CommitWatch;
  /** The attempt has not ended before this has settled. */
  writes(writing: Promise<void>): void;
}

/** Tells subtasks that the checkpoint is complete. Settles when what it covers is visible, and that is written down beside it; rejects if the attempt ends first. */
export async function commit(
  { id, location, metadata, committables }: Committing,
  attempt: CommittingAttempt,
  { context, storage, unanswered }: CheckpointedJob,
): Promise<void> {
  attempt.signal.throwIfAborted();
  attempt.commits.begun(id);
  try {
    await untilAborted(attempt.gateway.completed(id), attempt.signal);
  } finally {
    attempt.commits.ended(id);
  }
  if (committables > 0) {
    const mark = storage.writeCommitted(location, encodeCommitted(metadata, context.clock.now()));
    attempt.writes(mark);
    const outcome = await within(context.clock, mark, MARK_MS, attempt.signal);
    if (outcome.kind === 'late') {
      attempt.signal.throwIfAborted();
      unanswered.add(mark);
    }
    if (outcome.kind !== 'settled') {
      // Whoever restores the checkpoint then commits once more, which changes nothing where the output is.
      const text = `Checkpoint ${String(id)} of job ${context.job} is committed, but that could not be written down beside it.`;
      context.logger.warn({ checkpointId: id, err: outcome.kind === 'failed' ? outcome.error : undefined }, text);
    }
  }
  context.emit({ kind: 'committed', checkpointId: id, committables });
}
