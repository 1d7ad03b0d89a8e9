import type { Sink } from '../contracts/sink.js';
import type { Source, SourceGrade } from '../contracts/source.js';
import { KeyColumn } from '../element/key-column.js';
import { WeirError } from '../errors.js';
import type { Operator, OperatorContext, OperatorSpec } from '../operator/operator.js';
import { requireSink, requireSource } from './require-connector.js';
import type { OperatorOptions, SinkOptions, Stream } from './stream.js';
import { nameInGraph, upstreamOf } from './stream-node.js';
import type { LogicalEdge, LogicalGraph, LogicalNode, LoopNode, StreamKey, StreamNode } from './stream-node.js';

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
  return streamOf<S>({ graph, edges: [{ from: node, partitioning: FORWARD }] });
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
  return keyedTransform<Stream<B, G>>(inputs, spec, undefined, options);
}

/** As {@link transform}, where what the operator makes is keyed; not so without `keyed`. */
export function keyedTransform<S extends Stream<unknown>>(
  inputs: readonly [Stream<unknown>, ...Stream<unknown>[]],
  spec: OperatorSpec,
  keyed: Omit<StreamKey, 'keyOf'> | undefined,
  options: OperatorOptions = {},
): S {
  const graph = graphOf(inputs);
  const node = addNode(graph, {
    kind: 'operator',
    name: spec.name,
    uid: options.uid,
    parallelism: options.parallelism,
    inputs: inputs.map((input) => input['~node'].edges),
    spec,
  });
  if (keyed === undefined) return streamOf<S>({ graph, edges: [{ from: node, partitioning: FORWARD }] });
  const partitioning = { kind: 'forward', column: keyed.column } as const;
  return streamOf<S>({ graph, edges: [{ from: node, partitioning }], keyed: { ...keyed, keyOf: undefined } });
}

/** Puts an operator that makes records of records behind a stream: what is keyed stays so. `create` learns whether anybody reads the keys. */
export function keepingKey<S extends Stream<unknown>>(
  stream: Stream<unknown>,
  name: string,
  create: (context: OperatorContext, keepsKeys: boolean) => Operator,
  options?: OperatorOptions,
): S {
  const { keyed } = stream['~node'];
  const spec: OperatorSpec = {
    name,
    isStateful: false,
    create: (context) => create(context, keyed?.column.isRead === true),
  };
  return keyedTransform<S>([stream], spec, keyed, options);
}

/** The same records, reaching the next operator another way. */
export function repartitioned<S extends Stream<unknown>>(
  stream: Stream<unknown>,
  partitioning: LogicalEdge['partitioning'],
  keyed?: StreamKey,
): S {
  const { graph, edges } = stream['~node'];
  return streamOf<S>({ graph, edges: edges.map(({ from }) => ({ from, partitioning })), keyed });
}

/** The records of all streams in one, which is keyed if all of them are. */
export function merged<S extends Stream<unknown>>(streams: readonly [Stream<unknown>, ...Stream<unknown>[]]): S {
  const graph = graphOf(streams);
  return streamOf<S>({ graph, edges: streams.flatMap((stream) => stream['~node'].edges), keyed: commonKey(streams) });
}

/** Nobody can tell by a record which keyBy it has come from, so the keys travel with the records. */
function commonKey(streams: readonly Stream<unknown>[]): StreamKey | undefined {
  const keys = streams.map((stream) => stream['~node'].keyed);
  if (!keys.every((key) => key !== undefined)) return undefined;
  const types = keys.map(({ keyTypes }) => keyTypes);
  return {
    keyOf: undefined,
    column: new KeyColumn(keys.map(({ column }) => column)),
    keyedAt: [...new Set(keys.map(({ keyedAt }) => keyedAt))].join(', '),
    // Anything, if they may be anything in one of them.
    keyTypes: types.every((type) => type !== undefined) ? [...new Set(types.flat())] : undefined,
  };
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
  const parts = body(streamOf({ graph, edges: [{ from: head, partitioning: FORWARD }] })) as
    Partial<LoopBody<unknown, O>> | undefined;
  const back = parts?.feedback;
  const output = parts?.output;
  if (!isStream(back) || !isStream(output)) throw invalidLoop(head, 'must return { feedback, output }, two streams');
  graphOf([input, back, output]);
  for (const [name, stream] of [['feedback', back] as const, ['output', output] as const])
    if (!comesFrom(stream, head))
      throw invalidLoop(head, `returned as ${name} a stream that does not come from its input`);
  // The head has no keys, so records go back to it in turn where the numbers of subtasks differ.
  feedback.push(
    ...back['~node'].edges.map(({ from, partitioning }) => ({ from, partitioning: unkeyed(partitioning) })),
  );
  return streamOf<Stream<O, G>>({ graph, edges: output['~node'].edges, keyed: output['~node'].keyed });
}

function unkeyed(partitioning: LogicalEdge['partitioning']): LogicalEdge['partitioning'] {
  return partitioning.kind === 'forward' ? FORWARD : partitioning;
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
