import type { JobContainer } from './container.js';
import type { HostServices } from './host-services.js';

/** After a failure, which is what the caller must hear of: that services could not be closed either is for the log. */
export async function disposeAfter(container: JobContainer, logger: HostServices['logger']): Promise<void> {
  try {
    await container[Symbol.asyncDispose]();
  } catch (error) {
    logger.error({ err: error }, 'closing the services of a job that failed has failed too');
  }
}
