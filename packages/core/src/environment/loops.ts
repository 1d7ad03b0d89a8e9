import type { JobName } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { nameInGraph, downstreamOf, type LogicalGraph, type LogicalNode, type SinkNode } from '../graph/stream-node.js';
import type { CheckpointingOfJob } from './checkpoint-settings.js';

/**
 * Holds the loops of a job against what its checkpoints do about loops. Fails with ITERATIONS_REFUSED, or with GUARANTEE_IMPOSSIBLE for a claim
 * behind a loop that loses records; returns what the user should know, a sentence each.
 */
export function checkLoops(
  job: JobName,
  graph: LogicalGraph,
  settings: CheckpointingOfJob | undefined,
): readonly string[] {
  const { nodes } = graph;
  const heads = nodes.filter(isLoopHead);
  if (settings === undefined || heads.length === 0 || settings.iterations === 'logged') return [];
  const loops = heads.map(nameInGraph).join(', ');
  if (settings.iterations === 'refuse') {
    throw new WeirError(
      'ITERATIONS_REFUSED',
      `Job ${job} has loops (${loops}), and iterations: 'refuse' forbids to take checkpoints of such a job. ` +
        "Choose 'logged', which keeps what goes round, or 'force', which loses it after a failure.",
      { recoverable: false },
    );
  }
  const behindLoops = downstreamOf(graph, heads, ({ inputs }) => inputs.flat());
  const claiming = nodes.find(
    (node): node is SinkNode =>
      node.kind === 'sink' &&
      (node.guarantee === 'exactly-once' || node.guarantee === 'at-least-once') &&
      behindLoops.has(node),
  );
  if (claiming !== undefined) {
    throw new WeirError(
      'GUARANTEE_IMPOSSIBLE',
      `Sink ${nameInGraph(claiming)} cannot be ${String(claiming.guarantee)}: it is behind a loop, and iterations: 'force' loses what goes round after a failure.`,
      { recoverable: false },
    );
  }
  return [`What goes round a loop is in no checkpoint (iterations: 'force') and is lost after a failure: ${loops}.`];
}

function isLoopHead(node: LogicalNode): boolean {
  return node.kind === 'operator' && node.loop !== undefined;
}
