import type { Clock } from '../contracts/clock.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import { withinTime } from '../contracts/within-time.js';
import type { JobName } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { LocalCopies, type RestoredBytes } from '../host/local-copies.js';
import type { CheckpointingOfJob } from './checkpoint-settings.js';
import type { HostServices } from './host-services.js';

/** Undefined: the job neither makes nor uses any. */
export function localCopiesOf(
  job: JobName,
  settings: CheckpointingOfJob | undefined,
  { localDisk, newId }: Pick<HostServices, 'localDisk' | 'newId'>,
  warn: (message: string) => void,
): LocalCopies | undefined {
  if (settings === undefined) return undefined;
  const { areMade, areUsed, dirs = [localDisk.directory] } = settings.localCopies;
  if (!areMade && !areUsed) return undefined;
  return new LocalCopies({ job, dirs, fileSystem: localDisk.fileSystem, areMade, areUsed, newId, warn });
}

export function countRead(metrics: Metrics, job: JobName, { localBytes, remoteBytes }: RestoredBytes): void {
  metrics.counter('weir.restore.local_bytes', { job }).add(localBytes);
  metrics.counter('weir.restore.remote_bytes', { job }).add(remoteBytes);
}

/** `isOver`: nobody will restore the job. Never fails: what is left of them does no harm. */
export async function endLocalCopies(
  copies: LocalCopies | undefined,
  isOver: boolean,
  { clock, logger, timeoutMs }: { readonly clock: Clock; readonly logger: Logger; readonly timeoutMs: number },
): Promise<void> {
  if (copies === undefined) return;
  const late = new WeirError(
    'STORAGE_FAILED',
    `The disk with the local copies of state did not answer within ${String(timeoutMs)} ms.`,
  );
  try {
    await withinTime(clock, copies.end(isOver), timeoutMs, late);
  } catch (error) {
    logger.warn({ err: error }, 'local copies of state are left behind');
  }
}
