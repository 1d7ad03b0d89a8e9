import type { CheckpointSettings } from '../contracts/coordinator.js';
import type { Source, SourceGrade } from '../contracts/source.js';
import { WeirError } from '../errors.js';
import {
  downstreamOf,
  type LogicalGraph,
  type LogicalNode,
  type SinkNode,
  type SourceNode,
} from '../graph/stream-node.js';
import { inspectShort } from './inspect-short.js';

/**
 * Holds each sink's claim, and what cannot work at all, against the sources, the mode and whether checkpoints are taken. Fails with
 * GUARANTEE_IMPOSSIBLE; returns what the user should know, a sentence each.
 */
export function checkGuarantees(graph: LogicalGraph, settings: CheckpointSettings | undefined): readonly string[] {
  const notices: string[] = [];
  const sources = graph.nodes.filter((node) => node.kind === 'source');
  // What only joins a loop on its way back reaches the sink as well.
  const behind = (which: (source: Source<unknown>) => boolean): Behind =>
    downstreamOf(
      graph,
      sources.filter(({ source }) => which(source)),
    );
  const endless = behind(({ bounded }) => !bounded);
  const lossy = behind(({ grade }) => grade === 'at-most-once');
  const weak = behind(({ grade }) => (grade satisfies SourceGrade) !== 'replayable');
  for (const node of graph.nodes) {
    if (node.kind === 'source') notices.push(...neverAcknowledged(node, settings));
    if (node.kind !== 'sink') continue;
    if (settings === undefined && node.sink.grade === 'exactly-once') {
      const source = endless.get(node);
      if (source !== undefined) {
        throw impossible(
          node,
          `its source ${named(source)} never ends, and a transactional sink publishes when a checkpoint completes, of which there are none. ` +
            'Call env.enableCheckpointing(...)',
        );
      }
      notices.push(
        `Sink ${named(node)} is transactional, but without checkpoints it publishes as it goes: at least once, after a restart twice.`,
      );
    }
    notices.push(...neverVisible(node, endless.get(node), settings));
    checkClaim(node, lossy.get(node), weak.get(node), settings);
  }
  return notices;
}

/** Some source of each node that has one of that kind. */
type Behind = ReadonlyMap<LogicalNode, SourceNode>;

/** Without an interval checkpoints complete when somebody asks for one, and at the end of all input. */
function neverVisible(
  node: SinkNode,
  endless: SourceNode | undefined,
  settings: CheckpointSettings | undefined,
): readonly string[] {
  if (settings === undefined || settings.intervalMs !== undefined) return [];
  if (endless === undefined || node.sink.grade !== 'exactly-once') return [];
  return [
    `Nothing of what sink ${named(node)} writes becomes visible until somebody asks for a checkpoint, or stops the job with a savepoint: it is transactional, its source ${named(endless)} never ends, and checkpoints have no interval. Pass one to env.enableCheckpointing(...), or set execution.checkpointing.interval.`,
  ];
}

/** An acknowledging source tells upstream what is done when a checkpoint has completed. */
function neverAcknowledged(node: SourceNode, settings: CheckpointSettings | undefined): readonly string[] {
  const { grade, bounded } = node.source;
  if (settings === undefined || settings.intervalMs !== undefined || bounded || grade !== 'acknowledging') return [];
  return [
    `Nothing of what source ${named(node)} reads is acknowledged until somebody asks for a checkpoint: it never ends, and checkpoints have no interval. Pass one to env.enableCheckpointing(...), or set execution.checkpointing.interval.`,
  ];
}

const CLAIMS: readonly unknown[] = [undefined, 'exactly-once', 'at-least-once', 'at-most-once'];

function checkClaim(
  node: SinkNode,
  lossy: SourceNode | undefined,
  weak: SourceNode | undefined,
  settings: CheckpointSettings | undefined,
): void {
  if (!CLAIMS.includes(node.guarantee))
    throw new WeirError(
      'CONFIG_INVALID',
      `Sink ${named(node)}: guarantee must be one of exactly-once, at-least-once, at-most-once, but is ${inspectShort(node.guarantee)}`,
      { recoverable: false },
    );
  if (node.guarantee === undefined || node.guarantee === 'at-most-once') return;
  if (lossy !== undefined) throw impossible(node, `its source ${named(lossy)} cannot replay (${lossy.source.grade})`);
  if (node.guarantee !== 'exactly-once') return;
  if (settings === undefined) throw impossible(node, 'no checkpoints are taken. Call env.enableCheckpointing(...)');
  if (settings.mode !== 'exactly-once') throw impossible(node, 'checkpoints are taken in at-least-once mode');
  if (weak !== undefined) throw impossible(node, `its source ${named(weak)} is ${weak.source.grade}, not replayable`);
  if (node.sink.grade === 'at-least-once') throw impossible(node, 'the sink itself repeats output after a failure');
}

function named(node: LogicalNode): string {
  return node.uid ?? `${node.name}-${String(node.id)}`;
}

function impossible(node: SinkNode, why: string): WeirError {
  const claim = node.guarantee === undefined ? 'work' : `be ${node.guarantee}`;
  return new WeirError('GUARANTEE_IMPOSSIBLE', `Sink ${named(node)} cannot ${claim}: ${why}.`, { recoverable: false });
}
