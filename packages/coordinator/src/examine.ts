import { isWeirError, type CoordinatorContext, type ExaminedCheckpoint, type JobStorage } from '@weir/core/contracts';
import { requireSameJob } from './recovery-choice.js';
import { openCheckpoint, planRestore, type OpenCheckpoint } from './restore.js';

/** Asks what a start asks, of the same functions, and writes nothing: what a start refuses is refused here for the same reason. */
export async function examineCheckpoint(context: CoordinatorContext, path: string): Promise<ExaminedCheckpoint> {
  const { job, clock, logger } = context;
  const storage = await context.storage.open({ job, clock, logger });
  try {
    const stored = await storage.resolve(path);
    const open = await openCheckpoint({ stored, others: [] }, storage, context);
    return {
      pointer: open.stored.pointer,
      metadata: open.metadata,
      outcome: outcomeOf(open, storage, context),
      close: () => storage.close(),
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

function outcomeOf(
  open: OpenCheckpoint,
  storage: JobStorage,
  context: CoordinatorContext,
): ExaminedCheckpoint['outcome'] {
  try {
    requireSameJob(open.metadata, open.stored, context.job);
    return { kind: 'fits', restore: planRestore(open, { owner: 'user' }, storage, context).restore };
  } catch (error) {
    if (!isWeirError(error)) throw error;
    return { kind: 'refused', error };
  }
}
