import type { Sink } from '../contracts/sink.js';
import type { Source } from '../contracts/source.js';
import type { Partitioning } from '../channel/partitioner.js';
import type { Key } from '../element/key.js';
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
}

/** What a stream stands for: where its records come from and how they reach the next operator. */
export interface StreamNode {
  readonly graph: LogicalGraph;
  readonly edges: readonly LogicalEdge[];
  /** Present on keyed streams. */
  readonly keyOf: ((record: never) => Key) | undefined;
}

/** What errors call a node before it has a uid for certain. */
export function nameInGraph({ name, uid, id }: LogicalNode): string {
  return `${name} "${uid ?? `number ${String(id)}`}"`;
}
