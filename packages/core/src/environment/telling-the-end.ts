import type { JobEnding } from '../contracts/job-events.js';
import type { Logger } from '../contracts/logger.js';
import type { JobName } from '../element/ids.js';
import type { LogicalGraph } from '../graph/stream-node.js';
import type { JobEnd } from './job-handle.js';

/** Runs a job, and tells each of its sources and sinks how it ended: what they keep from attempt to attempt is theirs to free now. */
export async function tellingTheEnd(
  graph: LogicalGraph,
  job: JobName,
  logger: Logger,
  run: () => Promise<JobEnd>,
): Promise<JobEnd> {
  try {
    const end = await run();
    tell(graph, job, logger, { kind: end });
    return end;
  } catch (error) {
    tell(graph, job, logger, { kind: 'failed', error });
    throw error;
  }
}

function tell(graph: LogicalGraph, job: JobName, logger: Logger, ending: JobEnding): void {
  const ends = graph.nodes.flatMap((node) => {
    if (node.kind === 'operator') return [];
    return [node.kind === 'source' ? node.source : node.sink];
  });
  // One value may be used in several places.
  for (const end of new Set(ends)) {
    try {
      end.jobEnded?.(job, ending);
    } catch (error) {
      logger.warn({ err: error }, 'a source or sink failed when it was told that the job had ended');
    }
  }
}
