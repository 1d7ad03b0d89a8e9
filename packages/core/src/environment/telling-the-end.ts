import type { Clock } from '../contracts/clock.js';
import type { JobEnding } from '../contracts/job-events.js';
import type { Logger } from '../contracts/logger.js';
import { withinTime } from '../contracts/within-time.js';
import type { JobName } from '../element/ids.js';
import type { LogicalGraph } from '../graph/stream-node.js';
import type { JobEnd } from './job-handle.js';

/** Runs a job, and tells each of its sources and sinks how it ended: what they keep from attempt to attempt is theirs to free now. */
export async function tellingTheEnd(
  graph: LogicalGraph,
  job: JobName,
  logger: Logger,
  within: { readonly clock: Clock; readonly timeoutMs: number },
  run: () => Promise<JobEnd>,
): Promise<JobEnd> {
  try {
    const end = await run();
    await tell(graph, job, logger, within, { kind: end });
    return end;
  } catch (error) {
    await tell(graph, job, logger, within, { kind: 'failed', error });
    throw error;
  }
}

async function tell(
  graph: LogicalGraph,
  job: JobName,
  logger: Logger,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
  ending: JobEnding,
): Promise<void> {
  const ends = graph.nodes.flatMap((node) => {
    if (node.kind === 'operator') return [];
    return [node.kind === 'source' ? node.source : node.sink];
  });
  // One value may be used in several places.
  for (const end of new Set(ends)) {
    try {
      const told = Promise.resolve(end.jobEnded?.(job, ending));
      await withinTime(clock, told, timeoutMs, new Error(`it did not answer within ${String(timeoutMs)} ms`));
    } catch (error) {
      logger.warn({ err: error }, 'a source or sink failed when it was told that the job had ended');
    }
  }
}
