import type { OperatorDescription, PlanDescription } from '../contracts/coordinator.js';
import type { OperatorUid, StageId } from '../element/ids.js';
import { DEFAULT_MAX_PARALLELISM, MAX_MAX_PARALLELISM } from '../element/key-group.js';
import type { Partitioning } from '../channel/partitioner.js';
import { isWellFormed } from '../element/well-formed.js';
import { WeirError } from '../errors.js';
import { grouped } from '../element/grouped.js';
import { graphHash } from './graph-hash.js';
import {
  edgesInto,
  nameInGraph,
  upstreamOf,
  feedbackOf,
  type LogicalEdge,
  type LogicalGraph,
  type LogicalNode,
} from './stream-node.js';

/** What runs: stages in topological order, each a chain of operators with no exchange inside, and the edges between them. */
export interface Plan {
  readonly stages: readonly PlannedStage[];
  readonly edges: readonly PlannedEdge[];
  /** Edges back to the heads of loops. */
  readonly feedback: readonly PlannedEdge[];
  /** The user set the maximum parallelism; otherwise it may give way to that of a checkpoint. */
  readonly isMaxParallelismSet: boolean;
  /** Stateful operators whose uid was derived from their place. */
  readonly derivedUids: readonly OperatorUid[];
}
export interface PlannedStage {
  readonly id: StageId;
  readonly operators: readonly PlannedOperator[];
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** Inputs of the first operator. */
  readonly inputs: number;
}
export interface PlannedOperator {
  readonly uid: OperatorUid;
  readonly node: LogicalNode;
}
export interface PlannedEdge {
  readonly from: StageId;
  readonly to: StageId;
  readonly input: number;
  readonly partitioning: Partitioning;
  /** Only its ends' different parallelism makes it an edge: with one and the same they would share a stage. */
  readonly isByParallelism: boolean;
}

export interface PlanOptions {
  readonly parallelism: number;
  readonly maxParallelism: number | undefined;
}

/** The logical graph turned into stages, at once: see {@link planning}. */
export function planOf(graph: LogicalGraph, options: PlanOptions): Plan {
  const steps = planning(graph, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Turns the logical graph into stages. Deterministic: the same description gives the same plan. Between two steps the caller may let others
 * run: each takes time in proportion to the number of operators.
 */
export function* planning(graph: LogicalGraph, options: PlanOptions): Generator<undefined, Plan> {
  requireComplete(graph);
  yield;
  const maxParallelism = checkedMaxParallelism(options.maxParallelism);
  const uids = assignUids(graph.nodes);
  yield;
  const uidOf = (node: LogicalNode): OperatorUid => uids.get(node) as OperatorUid;
  const parallelismOf = (node: LogicalNode): number =>
    checkedParallelism(uidOf(node), node.parallelism ?? options.parallelism, maxParallelism);

  const stageOf = new Map<LogicalNode, LogicalNode[]>();
  const chains: LogicalNode[][] = [];
  const consumers = countConsumers(graph);
  // Nodes were written in topological order: a stream exists before what is piped behind it.
  for (const node of graph.nodes) {
    const before = chainableUpstream(node, consumers, parallelismOf);
    const chain = before === undefined ? [] : (stageOf.get(before) as LogicalNode[]);
    if (before === undefined) chains.push(chain);
    chain.push(node);
    stageOf.set(node, chain);
  }
  yield;
  const idOf = (node: LogicalNode): StageId => uidOf((stageOf.get(node) as LogicalNode[])[0] as LogicalNode);

  const stages = chains.map((chain): PlannedStage => {
    const head = chain[0] as LogicalNode;
    return {
      id: uidOf(head),
      operators: chain.map((node) => ({ uid: uidOf(node), node })),
      parallelism: parallelismOf(head),
      maxParallelism,
      inputs: head.inputs.length,
    };
  });
  yield;
  const heads = chains.map((chain) => chain[0] as LogicalNode);
  const planned = (edge: LogicalEdge, head: LogicalNode, input: number, chainable?: LogicalNode): PlannedEdge => ({
    from: idOf(edge.from),
    to: uidOf(head),
    input,
    partitioning: carried(edge.partitioning, parallelismOf(edge.from), parallelismOf(head)),
    isByParallelism: chainable === edge.from,
  });
  const edges = heads.flatMap((head) => {
    const chainable = chainableUpstream(head, consumers, () => 1);
    return head.inputs.flatMap((into, input) => into.map((edge) => planned(edge, head, input, chainable)));
  });
  const feedback = heads.flatMap((head) => feedbackOf(head).map((edge) => planned(edge, head, 0)));
  const derivedUids = graph.nodes.filter((node) => node.uid === undefined && isStateful(node)).map(uidOf);
  return { stages, edges, feedback, isMaxParallelismSet: options.maxParallelism !== undefined, derivedUids };
}

/** The same plan over another number of key groups: that of the checkpoint it restores. */
export function withMaxParallelism(plan: Plan, maxParallelism: number): Plan {
  return { ...plan, stages: plan.stages.map((stage) => ({ ...stage, maxParallelism })) };
}

/** The plan as plain data, for the coordinator. */
export function describePlan(plan: Plan): PlanDescription {
  const feedback = grouped(plan.feedback, ({ to }) => to);
  const stages = plan.stages.map(({ id, parallelism, maxParallelism, inputs, operators }) => ({
    id,
    parallelism,
    maxParallelism,
    isSource: inputs === 0,
    // Undefined for a stage that is no head of a loop.
    feedback: feedback.get(id)?.map(({ from, partitioning }) => ({ from, partitioning: partitioning.kind })),
    operators: operators.map(({ uid, node }): OperatorDescription => ({
      uid,
      name: node.name,
      isStateful: isStateful(node),
      sinkGrade: node.kind === 'sink' ? node.sink.grade : undefined,
    })),
  }));
  const edges = plan.edges.map(({ from, to, partitioning }) => ({
    from,
    to,
    isPointwise: partitioning.kind === 'forward',
  }));
  return { graphHash: graphHash(stages, plan.edges), isMaxParallelismSet: plan.isMaxParallelismSet, stages, edges };
}

function isStateful(node: LogicalNode): boolean {
  return node.kind !== 'operator' || node.spec.isStateful;
}

/** Operators share a stage where records go forward one to one between exactly two of them. */
function chainableUpstream(
  node: LogicalNode,
  consumers: ReadonlyMap<LogicalNode, number>,
  parallelismOf: (node: LogicalNode) => number,
): LogicalNode | undefined {
  const into = edgesInto(node);
  const [edge] = into;
  // Records come back to the head of a loop, so it is the head of its stage too.
  if (edge === undefined || into.length > 1 || edge.partitioning.kind !== 'forward') return undefined;
  if ((consumers.get(edge.from) ?? 0) > 1 || parallelismOf(edge.from) !== parallelismOf(node)) return undefined;
  return edge.from;
}

/** Edges out of each node. */
function countConsumers({ nodes }: LogicalGraph): ReadonlyMap<LogicalNode, number> {
  const counts = new Map<LogicalNode, number>();
  for (const node of nodes) for (const { from } of edgesInto(node)) counts.set(from, (counts.get(from) ?? 0) + 1);
  return counts;
}

/** Forward is one to one; between different parallelisms records go by their keys if somebody reads these, else they are dealt out in turn. */
function carried(partitioning: LogicalEdge['partitioning'], from: number, to: number): Partitioning {
  if (partitioning.kind !== 'forward' || from === to) return partitioning;
  const { column } = partitioning;
  return column?.isRead === true ? { kind: 'hash', keyOf: undefined, column } : { kind: 'rebalance' };
}

function assignUids(nodes: readonly LogicalNode[]): Map<LogicalNode, OperatorUid> {
  const taken = new Set<string>();
  for (const { uid } of nodes) {
    if (uid === undefined) continue;
    if (typeof (uid as unknown) !== 'string' || uid === '' || !isWellFormed(uid))
      throw new WeirError(
        'CONFIG_INVALID',
        `The uid of an operator must be a text of valid Unicode that is not empty, but is ${JSON.stringify(uid)}.`,
      );
    if (taken.has(uid))
      throw new WeirError('GRAPH_DUPLICATE_UID', `Two operators have the uid "${uid}". Give each its own.`);
    taken.add(uid);
  }
  return new Map(
    nodes.map((node) => {
      if (node.uid !== undefined) return [node, node.uid];
      const derived = `${node.name}-${String(node.id)}`;
      if (taken.has(derived)) {
        throw new WeirError(
          'GRAPH_DUPLICATE_UID',
          `The uid "${derived}" is also the derived one of an operator without uid. Choose another.`,
        );
      }
      return [node, derived];
    }),
  );
}

function requireComplete(graph: LogicalGraph): void {
  if (graph.nodes.length === 0) {
    throw new WeirError('GRAPH_EMPTY', 'The job has no source: call env.from(...) before starting it.');
  }
  const ending = upstreamOf(graph.nodes.filter(({ kind }) => kind === 'sink'));
  if (ending.size === graph.nodes.length) return;
  const consumed = countConsumers(graph);
  // What only goes round is consumed, and ends nowhere all the same.
  const loose =
    graph.nodes.find((node) => !ending.has(node) && !consumed.has(node)) ??
    graph.nodes.findLast((node) => !ending.has(node));
  if (loose !== undefined) {
    throw new WeirError(
      'GRAPH_NO_SINK',
      `The stream behind ${nameInGraph(loose)} ends nowhere. End it with .to(sink), or do not describe it.`,
    );
  }
}

function checkedMaxParallelism(value: number | undefined): number {
  const maxParallelism = value ?? DEFAULT_MAX_PARALLELISM;
  if (!Number.isInteger(maxParallelism) || maxParallelism < 1 || maxParallelism > MAX_MAX_PARALLELISM) {
    throw new WeirError(
      'GRAPH_INVALID_PARALLELISM',
      `The maximum parallelism must be a whole number from 1 to ${String(MAX_MAX_PARALLELISM)}, not ${String(maxParallelism)}.`,
    );
  }
  return maxParallelism;
}

function checkedParallelism(uid: OperatorUid, parallelism: number, maxParallelism: number): number {
  if (!Number.isInteger(parallelism) || parallelism < 1 || parallelism > maxParallelism) {
    throw new WeirError(
      'GRAPH_INVALID_PARALLELISM',
      `Operator ${uid}: the parallelism must be a whole number from 1 to the maximum parallelism ${String(maxParallelism)}, not ${String(parallelism)}. ` +
        'Set maxParallelism for more.',
    );
  }
  return parallelism;
}
