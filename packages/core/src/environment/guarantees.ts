import type { CheckpointSettings } from '../contracts/coordinator.js';
import type { SourceGrade } from '../contracts/source.js';
import { WeirError } from '../errors.js';
import {
  feedbackOf,
  type LogicalGraph,
  type LogicalNode,
  type SinkNode,
  type SourceNode,
} from '../graph/stream-node.js';
import { shown } from './shown.js';

/**
 * Holds each sink's claim, and what cannot work at all, against the sources, the mode and whether checkpoints are taken. Fails with
 * GUARANTEE_IMPOSSIBLE; returns what the user should know, a sentence each.
 */
export function checkGuarantees(graph: LogicalGraph, settings: CheckpointSettings | undefined): readonly string[] {
  const notices: string[] = [];
  for (const node of graph.nodes) {
    if (node.kind !== 'sink') continue;
    const sources = sourcesOf(node);
    if (settings === undefined && node.sink.grade === 'exactly-once') {
      const endless = sources.find(({ source }) => !source.bounded);
      if (endless !== undefined) {
        throw impossible(
          node,
          `its source ${named(endless)} never ends, and a transactional sink publishes when a checkpoint completes, of which there are none. ` +
            'Call env.enableCheckpointing(...)',
        );
      }
      notices.push(
        `Sink ${named(node)} is transactional, but without checkpoints it publishes as it goes: at least once, after a restart twice.`,
      );
    }
    checkClaim(node, sources, settings);
  }
  return notices;
}

const CLAIMS: readonly unknown[] = [undefined, 'exactly-once', 'at-least-once', 'at-most-once'];

function checkClaim(node: SinkNode, sources: readonly SourceNode[], settings: CheckpointSettings | undefined): void {
  if (!CLAIMS.includes(node.guarantee))
    throw new WeirError(
      'CONFIG_INVALID',
      `Sink ${named(node)}: guarantee must be one of exactly-once, at-least-once, at-most-once, but is ${shown(node.guarantee)}`,
      { recoverable: false },
    );
  if (node.guarantee === undefined || node.guarantee === 'at-most-once') return;
  const lossy = sources.find(({ source }) => source.grade === 'at-most-once');
  if (lossy !== undefined) throw impossible(node, `its source ${named(lossy)} cannot replay (${lossy.source.grade})`);
  if (node.guarantee !== 'exactly-once') return;
  if (settings === undefined) throw impossible(node, 'no checkpoints are taken. Call env.enableCheckpointing(...)');
  if (settings.mode !== 'exactly-once') throw impossible(node, 'checkpoints are taken in at-least-once mode');
  const weak = sources.find(({ source }) => (source.grade satisfies SourceGrade) !== 'replayable');
  if (weak !== undefined) throw impossible(node, `its source ${named(weak)} is ${weak.source.grade}, not replayable`);
  if (node.sink.grade === 'at-least-once') throw impossible(node, 'the sink itself repeats output after a failure');
}

function sourcesOf(node: LogicalNode): SourceNode[] {
  const found = new Set<LogicalNode>();
  const visit = (from: LogicalNode): void => {
    if (found.has(from)) return;
    found.add(from);
    // What only joins a loop on its way back reaches the sink as well.
    for (const edge of [...from.inputs.flat(), ...feedbackOf(from)]) visit(edge.from);
  };
  visit(node);
  return [...found].filter((other) => other.kind === 'source');
}

function named(node: LogicalNode): string {
  return node.uid ?? `${node.name}-${String(node.id)}`;
}

function impossible(node: SinkNode, why: string): WeirError {
  const claim = node.guarantee === undefined ? 'work' : `be ${node.guarantee}`;
  return new WeirError('GUARANTEE_IMPOSSIBLE', `Sink ${named(node)} cannot ${claim}: ${why}.`, { recoverable: false });
}
