import type { Clock, Random } from '../contracts/clock.js';
import type { FileSystem } from '../contracts/file-system.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import type { TemporaryFiles } from '../contracts/temporary-files.js';
import type { ObserverFailures } from './observer-failures.js';

/** What a job takes from the process it runs in. */
export interface HostServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: () => string;
  /** Never throw, whatever the user's do. */
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly observerFailures: ObserverFailures;
  /** In a folder, or where the system has them. */
  readonly temporaryFiles: (directory: string | undefined) => TemporaryFiles;
  /** For copies of what is stored elsewhere; in `directory` unless something else is configured. */
  readonly localDisk: { readonly fileSystem: FileSystem; readonly directory: string };
}
