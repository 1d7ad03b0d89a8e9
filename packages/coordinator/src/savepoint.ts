import { WeirError, type Barrier, type CoordinatorContext, type JobStorage } from '@weir/core/contracts';

/** What a savepoint needs that a checkpoint does not. */
export interface SavepointWish {
  readonly directory: string;
  /** The job is to stop with it. */
  readonly stop: Barrier['stop'];
}

/** The directory for a savepoint: the one given, else the storage's own. SAVEPOINT_NOWHERE if there is neither, or the storage has no savepoints. */
export function savepointDirectory(
  { job }: CoordinatorContext,
  type: string,
  storage: JobStorage,
  given: string | undefined,
): string {
  if (storage.createSavepoint === undefined) {
    throw new WeirError(
      'SAVEPOINT_NOWHERE',
      `The checkpoint storage of job ${job} (${type}) has no savepoints, which outlive the job. Use one that has, such as fsBackend of @weir/backend-fs.`,
    );
  }
  const directory = given ?? storage.savepointDirectory;
  if (directory !== undefined) return directory;
  throw new WeirError(
    'SAVEPOINT_NOWHERE',
    `A savepoint of job ${job} has no directory: name one, or set execution.checkpointing.savepoint-dir (savepointsDir of fsBackend).`,
  );
}
