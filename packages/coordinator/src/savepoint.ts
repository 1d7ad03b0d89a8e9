import { WeirError, type Barrier, type CoordinatorContext, type JobStorage } from '@weir/core/contracts';

/** What a savepoint needs that a checkpoint does not. */
export interface SavepointWish {
  readonly directory: string;
  /** The job is to stop with it. */
  readonly stop: Barrier['stop'];
}

/** The directory for a savepoint: the one given, else the storage's own. SAVEPOINT_NOWHERE if there is neither, or it would end with the process. */
export function savepointDirectory(
  { job, storage: { type, capabilities } }: CoordinatorContext,
  storage: JobStorage,
  given: string | undefined,
): string {
  if (storage.createSavepoint === undefined || !capabilities.durable) {
    throw new WeirError(
      'SAVEPOINT_NOWHERE',
      `A savepoint outlives its job, and what the checkpoint storage of job ${job} (${type}) keeps does not. Use another, such as fsBackend of @weir/backend-fs.`,
    );
  }
  const directory = given ?? storage.savepointDirectory;
  if (directory !== undefined) return directory;
  throw new WeirError(
    'SAVEPOINT_NOWHERE',
    `A savepoint of job ${job} has no directory: name one, or set execution.checkpointing.savepoint-dir (savepointsDir of fsBackend).`,
  );
}
