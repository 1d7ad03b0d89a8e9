import { WeirError, causesOf, isWeirError, type CoordinatorContext } from '@weir/core/contracts';
import { warn, type CheckpointedJob } from './job.js';
import { showingSinks } from './recovery-choice.js';
import { openCheckpoint, type OpenCheckpoint } from './restore.js';

/**
 * The newest checkpoint that the job can fall back to. A savepoint that was triggered meanwhile (`preferCheckpointForRecovery: false`) is one for
 * as long as its files exist; its output was committed, so without it there is no going back for sinks that would show the repetition.
 */
export async function openNewest({ context, ledger, storage }: CheckpointedJob): Promise<OpenCheckpoint | undefined> {
  for (;;) {
    const stored = ledger.completed.map((c) => c.stored);
    const newest = stored.at(-1);
    if (newest === undefined) return undefined;
    const others = stored.slice(0, -1);
    try {
      return await openCheckpoint({ stored: newest, others }, storage, context);
    } catch (error) {
      if (others.length === 0 || !isGone(error)) throw error;
      refuseToRepeat(context, newest.id, error);
      ledger.forgetNewest();
      warn(
        context,
        `Job ${context.job} goes back behind savepoint ${String(newest.id)}, which is not there any more.`,
        error,
      );
    }
  }
}

/** A reference that leads nowhere, rather than damage. */
function isGone(error: unknown): boolean {
  return [...causesOf(error)].some((cause) => isWeirError(cause, 'CHECKPOINT_NONE'));
}

function refuseToRepeat({ job, plan, settings }: CoordinatorContext, id: number, cause: unknown): void {
  const showing = showingSinks(plan);
  if (settings.allowDuplicates || showing.length === 0) return;
  throw new WeirError(
    'CHECKPOINT_NOT_NEWEST',
    `Job ${job} has committed output for savepoint ${String(id)}, which is not there any more. Going back behind it would repeat that, and sink ` +
      `${showing.join(', ')} cannot take it back. Put the savepoint back, or set allowDuplicates to accept the repetition.`,
    { cause, recoverable: false },
  );
}
