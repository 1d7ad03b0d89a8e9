import type { JobStorage, StorageLock } from '@weir/core/contracts';
import { warn, type CheckpointedJob } from './job.js';

/** Gives back the lock, then the storage. Each is tried, and no error of one hides that of another. */
export async function letGo(storage: JobStorage, lock: StorageLock | undefined): Promise<void> {
  const errors: unknown[] = [];
  for (const close of [async () => lock?.release(), () => storage.close()]) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, 'Neither the lock nor the storage could be closed.');
  if (errors.length > 0) throw errors[0];
}

/** The end of a job's storage. What it has not answered to it may still do: until it has, nobody else may begin, so that the lock stays with the process. */
export async function letGoWhenAnswered({ context, storage, lock, unanswered }: CheckpointedJob): Promise<void> {
  if (unanswered.count === 0) {
    await letGo(storage, lock);
    return;
  }
  warn(
    context,
    `The checkpoint storage of job ${context.job} has not answered to ${String(unanswered.count)} calls. The lock stays with this process until it ` +
      'has, or until the process ends.',
  );
  unanswered
    .answered()
    .then(() => letGo(storage, lock))
    .catch((error: unknown) => {
      context.logger.warn({ err: error }, 'the checkpoint storage could not be closed');
    });
}
