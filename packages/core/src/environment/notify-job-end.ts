import type { CallBounds } from '../bounds/bounded-calls.js';
import type { JobEnding } from '../contracts/job-events.js';
import type { Logger } from '../contracts/logger.js';
import type { JobName } from '../element/ids.js';
import { nameInGraph, type LogicalGraph } from '../graph/stream-node.js';
import type { JobEnd } from './job-handle.js';

/** Runs a job, and tells each of its sources and sinks how it ended: what they keep from attempt to attempt is theirs to free now. */
export async function notifyJobEnd(
  graph: LogicalGraph,
  job: JobName,
  { logger, calls }: { readonly logger: Logger; readonly calls: CallBounds },
  run: () => Promise<JobEnd>,
): Promise<JobEnd> {
  const told = new Set<unknown>();
  const tell = async (ending: JobEnding): Promise<void> => {
    for (const node of graph.nodes) {
      if (node.kind === 'operator') continue;
      const end = node.kind === 'source' ? node.source : node.sink;
      // One value may be used in several places.
      if (told.has(end)) continue;
      told.add(end);
      try {
        await calls.run('sink.jobEnded', nameInGraph(node), () => end.jobEnded?.(job, ending));
      } catch (error) {
        logger.warn({ err: error }, 'a source or sink failed when it was told that the job had ended');
      }
    }
  };
  try {
    const end = await run();
    await tell({ kind: end });
    return end;
  } catch (error) {
    await tell({ kind: 'failed', error });
    throw error;
  }
}
