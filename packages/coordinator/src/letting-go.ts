import { closeInTurn } from '@weir/core/contracts';
import { warn, type CheckpointedJob } from './job.js';

/** The end of a job's storage. What it has not answered to it may still do: until it has, nobody else may begin, so that the lock stays with the process. */
export async function letGoWhenAnswered({ context, storage, lock, unanswered }: CheckpointedJob): Promise<void> {
  const letGo = (): Promise<void> => closeInTurn([() => lock?.release(), () => storage.close()]);
  if (unanswered.count === 0) {
    await letGo();
    return;
  }
  warn(
    context,
    `The checkpoint storage of job ${context.job} has not answered to ${String(unanswered.count)} calls. The lock stays with this process until it ` +
      'has, or until the process ends.',
  );
  unanswered
    .answered()
    .then(letGo)
    .catch((error: unknown) => {
      context.logger.warn({ err: error }, 'the checkpoint storage could not be closed');
    });
}
