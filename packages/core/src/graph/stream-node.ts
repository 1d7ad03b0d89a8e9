import type { Serializer } from '../contracts/serializer.js';
import type { Sink } from '../contracts/sink.js';
import type { Source } from '../contracts/source.js';
import type { Partitioning } from '../channel/partitioner.js';
import type { KeyColumn } from '../element/key-column.js';
import type { Key, KeyOf } from '../element/key.js';
import type { KeyType } from '../element/key-type.js';
import type { OperatorSpec } from '../operator/operator.js';

/** One step of the logical graph: what the user wrote. */
export type LogicalNode = SourceNode | OperatorNode | SinkNode;
interface NodeBase {
  /** Position in the order of writing. */
  readonly id: number;
  readonly name: string;
  readonly uid: string | undefined;
  readonly parallelism: number | undefined;
  /** Edges into each input. */
  readonly inputs: readonly (readonly LogicalEdge[])[];
}
export interface SourceNode extends NodeBase {
  readonly kind: 'source';
  readonly source: Source<unknown>;
}
export interface OperatorNode extends NodeBase {
  readonly kind: 'operator';
  readonly spec: OperatorSpec;
  /** Present on the head of a loop. */
  readonly loop?: LoopNode | undefined;
}
/** What comes back to the head of a loop. Kept apart from `inputs`, so that the graph without it has no cycle. */
export interface LoopNode {
  /** Filled once the body of the loop has been described. */
  readonly feedback: LogicalEdge[];
  /** Of the records on the feedback edges, in logs and where they are spilled. */
  readonly serializer: Serializer;
  readonly bounds: FeedbackBounds;
}
/** How much may wait at one subtask of a loop head. */
export interface FeedbackBounds {
  /** In memory. */
  readonly records: number;
  /** On disk, beyond that. */
  readonly bytes: number;
}
export interface SinkNode extends NodeBase {
  readonly kind: 'sink';
  readonly sink: Sink<unknown>;
  readonly guarantee: 'exactly-once' | 'at-least-once' | 'at-most-once' | undefined;
}
export interface LogicalEdge {
  readonly from: LogicalNode;
  readonly partitioning: Partitioning;
}

/** All that was described so far. */
export interface LogicalGraph {
  readonly nodes: LogicalNode[];
  /** How many starts it was given to that were not refused. Above zero nothing is added to it: those jobs would not have it. */
  starts?: number;
}

/** What a stream stands for: where its records come from and how they reach the next operator. */
export interface StreamNode {
  readonly graph: LogicalGraph;
  readonly edges: readonly LogicalEdge[];
  /** Present on keyed streams. */
  readonly keyed?: StreamKey | undefined;
}
/** What is known of the keys of a stream. */
export interface StreamKey {
  /** Right behind the keyBy. Elsewhere the key travels with the record, which may be another by now. */
  readonly keyOf: KeyOf<never, Key>;
  readonly column: KeyColumn;
  /** The keyBy that chose the keys, for messages. */
  readonly keyedAt: string;
  /** What keys may be, where keyBy says so. */
  readonly keyTypes?: readonly KeyType[] | undefined;
}

/** Edges that lead back to `node`, if it is the head of a loop. */
export function feedbackOf(node: LogicalNode): readonly LogicalEdge[] {
  return node.kind === 'operator' ? (node.loop?.feedback ?? []) : [];
}

/** Edges into `node`, those that lead back to it among them. */
export function edgesInto(node: LogicalNode): readonly LogicalEdge[] {
  const feedback = feedbackOf(node);
  const [only, ...others] = node.inputs;
  // Of most nodes, and for graphs of many thousand of them.
  if (only !== undefined && others.length === 0 && feedback.length === 0) return only;
  return [...node.inputs.flat(), ...feedback];
}

// Graphs may be of any depth, so nothing here calls itself. A set or map that grows while it is walked through is walked through to its end.

/** `nodes`, and all whose records reach one of them. `into` says over which edges. */
export function upstreamOf(
  nodes: readonly LogicalNode[],
  into: (node: LogicalNode) => readonly LogicalEdge[] = edgesInto,
): ReadonlySet<LogicalNode> {
  const found = new Set(nodes);
  for (const node of found) for (const { from } of into(node)) found.add(from);
  return found;
}

/** Every node that records of one of `origins` reach, with the first of these; `into` as for {@link upstreamOf}. */
export function downstreamOf<N extends LogicalNode>(
  { nodes }: LogicalGraph,
  origins: readonly N[],
  into: (node: LogicalNode) => readonly LogicalEdge[] = edgesInto,
): ReadonlyMap<LogicalNode, N> {
  const found = new Map<LogicalNode, N>();
  if (origins.length === 0) return found;
  const consumers = nodes.map((): LogicalNode[] => []);
  for (const node of nodes) for (const { from } of into(node)) consumers[from.id]?.push(node);
  for (const origin of origins) {
    const reached = new Set<LogicalNode>([origin]);
    for (const node of reached) {
      if (found.has(node)) continue;
      found.set(node, origin);
      for (const consumer of consumers[node.id] ?? []) reached.add(consumer);
    }
  }
  return found;
}

/** What errors call a node before it has a uid for certain. */
export function nameInGraph({ name, uid, id }: LogicalNode): string {
  return `${name} "${uid ?? `number ${String(id)}`}"`;
}
