import type { Sink } from '../contracts/sink.js';
import type { Source, SourceGrade } from '../contracts/source.js';
import { WeirError } from '../errors.js';
import type { OperatorSpec } from '../operator/operator.js';
import { requireSink, requireSource } from './require-connector.js';
import type { OperatorOptions, SinkOptions, Stream } from './stream.js';
import { nameInGraph, upstreamOf } from './stream-node.js';
import type { LogicalEdge, LogicalGraph, LogicalNode, LoopNode, StreamNode } from './stream-node.js';

const FORWARD = { kind: 'forward' } as const;

/** Makes the stream that stands for `node`. Types are the caller's: the record type, grade and key exist for the compiler only. */
export function streamOf<S extends Stream<unknown>>(node: StreamNode): S {
  const stream = {
    '~node': node,
    pipe(...operators: readonly unknown[]): unknown {
      return operators.reduce<unknown>(applyOperator, stream);
    },
    to(sink: Sink<unknown>, options: SinkOptions<'exactly-once'> = {}): void {
      requireSink(sink);
      addNode(node.graph, {
        kind: 'sink',
        name: 'sink',
        uid: options.uid,
        parallelism: options.parallelism,
        inputs: [node.edges],
        sink,
        guarantee: options.guarantee,
      });
    },
  };
  return stream as unknown as S;
}

export function sourceStream<S extends Stream<unknown>>(
  graph: LogicalGraph,
  source: Source<unknown>,
  options: OperatorOptions,
): S {
  requireSource(source);
  const { uid, parallelism } = options;
  const node = addNode(graph, { kind: 'source', name: 'source', uid, parallelism, inputs: [], source });
  return streamOf<S>({ graph, edges: [{ from: node, partitioning: FORWARD }], keyOf: undefined });
}

/**
 * Puts a low-level operator behind one or more streams, one input each: the base of every operator of weir, and of strangers' that do not
 * compose existing ones.
 */
export function transform<B, G extends SourceGrade>(
  inputs: readonly [Stream<unknown, G>, ...Stream<unknown, G>[]],
  spec: OperatorSpec,
  options: OperatorOptions = {},
): Stream<B, G> {
  const graph = graphOf(inputs);
  const node = addNode(graph, {
    kind: 'operator',
    name: spec.name,
    uid: options.uid,
    parallelism: options.parallelism,
    inputs: inputs.map((input) => input['~node'].edges),
    spec,
  });
  return streamOf<Stream<B, G>>({ graph, edges: [{ from: node, partitioning: FORWARD }], keyOf: undefined });
}

/** The same records, reaching the next operator another way. */
export function repartitioned<S extends Stream<unknown>>(
  stream: Stream<unknown>,
  partitioning: LogicalEdge['partitioning'],
  keyed: Pick<StreamNode, 'keyOf' | 'keyedAt' | 'keyTypes'> = { keyOf: undefined },
): S {
  const { graph, edges } = stream['~node'];
  return streamOf<S>({ graph, edges: edges.map(({ from }) => ({ from, partitioning })), ...keyed });
}

export function merged<S extends Stream<unknown>>(streams: readonly [Stream<unknown>, ...Stream<unknown>[]]): S {
  const graph = graphOf(streams);
  return streamOf<S>({ graph, edges: streams.flatMap((stream) => stream['~node'].edges), keyOf: undefined });
}

/** What the body of a loop makes of its input: records that go round again, and records that leave. */
export interface LoopBody<F, O> {
  readonly feedback: Stream<F>;
  readonly output: Stream<O>;
}

/** Puts the head of a loop behind `input` and lets `body` describe what is behind the head, once. */
export function looped<O, G extends SourceGrade>(
  input: Stream<unknown, G>,
  spec: OperatorSpec,
  loop: Omit<LoopNode, 'feedback'>,
  options: OperatorOptions,
  body: (input: Stream<never>) => LoopBody<unknown, O>,
): Stream<O, G> {
  const graph = graphOf([input]);
  const feedback: LogicalEdge[] = [];
  const head = addNode(graph, {
    kind: 'operator',
    name: spec.name,
    uid: options.uid,
    parallelism: options.parallelism,
    inputs: [input['~node'].edges],
    spec,
    loop: { ...loop, feedback },
  });
  // Whoever writes plain JavaScript may have forgotten to return something.
  const parts = body(streamOf({ graph, edges: [{ from: head, partitioning: FORWARD }], keyOf: undefined })) as
    Partial<LoopBody<unknown, O>> | undefined;
  const back = parts?.feedback;
  const output = parts?.output;
  if (!isStream(back) || !isStream(output)) throw invalidLoop(head, 'must return { feedback, output }, two streams');
  graphOf([input, back, output]);
  for (const [name, stream] of [['feedback', back] as const, ['output', output] as const])
    if (!comesFrom(stream, head))
      throw invalidLoop(head, `returned as ${name} a stream that does not come from its input`);
  feedback.push(...back['~node'].edges);
  return streamOf<Stream<O, G>>({ graph, edges: output['~node'].edges, keyOf: undefined });
}

function comesFrom(stream: Stream<unknown>, origin: LogicalNode): boolean {
  const ends = stream['~node'].edges.map(({ from }) => from);
  return upstreamOf(ends, ({ inputs }) => inputs.flat()).has(origin);
}

function invalidLoop(head: LogicalNode, what: string): WeirError {
  return new WeirError('GRAPH_INVALID_LOOP', `The body of the loop ${nameInGraph(head)} ${what}.`);
}

/** A node before it has its place. */
type NewNode = LogicalNode extends infer N ? (N extends LogicalNode ? Omit<N, 'id'> : never) : never;

function addNode(graph: LogicalGraph, node: NewNode): LogicalNode {
  const added = { id: graph.nodes.length, ...node } as LogicalNode;
  if ((graph.starts ?? 0) > 0) {
    throw new WeirError(
      'GRAPH_STARTED',
      `The ${nameInGraph(added)} was described after the job was started, which has no part of it. ` +
        'Describe everything before start, and another job in an environment of its own.',
      { recoverable: false },
    );
  }
  graph.nodes.push(added);
  return added;
}

/** The one environment that all of them are of. */
function graphOf(streams: readonly [Stream<unknown>, ...Stream<unknown>[]]): LogicalGraph {
  for (const stream of streams as readonly unknown[])
    if (!isStream(stream)) throw notAnOperator(`one of the streams it combines is ${shown(stream)}`);
  const { graph } = streams[0]['~node'];
  if (streams.some((stream) => stream['~node'].graph !== graph)) {
    throw new WeirError(
      'GRAPH_FOREIGN_STREAM',
      'Streams of two environments cannot be combined. Describe both in one environment.',
    );
  }
  return graph;
}

function applyOperator(input: unknown, operator: unknown, index: number): unknown {
  if (typeof operator !== 'function') throw notAnOperator(`argument ${String(index + 1)} is ${shown(operator)}`);
  if (!isStream(input)) throw notAnOperator(`argument ${String(index)} made ${shown(input)} of a stream`);
  try {
    return (operator as (input: unknown) => unknown)(input);
  } catch (error) {
    // RxJS operators refuse what is not an Observable with this text (rxjs/internal/util/lift).
    if (error instanceof TypeError && error.message.includes('Unable to lift')) {
      throw new WeirError(
        'GRAPH_NOT_AN_OPERATOR',
        'An RxJS operator was used bare in pipe. Use the operator of the same name from @weir/core/operators, or keyedProcess for what remembers; one that makes something of each record alone may be wrapped as rx(...).',
        { cause: error },
      );
    }
    throw error;
  }
}

function isStream(value: unknown): value is Stream<unknown> {
  return typeof value === 'object' && value !== null && '~node' in value;
}

function notAnOperator(what: string): WeirError {
  return new WeirError('GRAPH_NOT_AN_OPERATOR', `pipe takes operators on streams, but ${what}.`);
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'function'
    ? 'a function: is a pair of parentheses missing?'
    : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
