import { Channel } from '../channel/channel.js';
import type { Partitioning } from '../channel/partitioner.js';
import type { OperatorUid, StageId } from '../element/ids.js';
import type { Plan, PlannedEdge, PlannedStage } from '../graph/plan.js';
import type { InputChannel } from './input-gate.js';
import type { OutputEdge } from './router.js';

/** What each subtask is connected to. */
export interface Wiring {
  inputs(stage: StageId, subtask: number): readonly InputChannel[];
  outputs(stage: StageId, subtask: number): readonly OutputEdge[];
}

/** Makes a channel for every pair of subtasks that an edge of the plan connects: one to one for forward, all to all for the rest. */
export function wire(plan: Plan): Wiring {
  const inputs = new Map<string, InputChannel[]>();
  const outputs = new Map<string, OutputEdge[]>();
  const stages = new Map(plan.stages.map((stage) => [stage.id, stage]));
  const aligned = alwaysAligned(plan.edges);
  for (const edge of plan.edges) {
    const { from, to, input, partitioning } = edge;
    const consumer = stages.get(to);
    const producing = stages.get(from);
    if (consumer === undefined || producing === undefined) continue;
    const name = { producer: tailOf(producing), output: outputOf(edge, plan.edges), consumer: headOf(consumer), input };
    const mayOvertake = !aligned.has(to);
    for (let producer = 0; producer < producing.parallelism; producer++) {
      const targets =
        partitioning.kind === 'forward'
          ? [producer]
          : Array.from({ length: consumer.parallelism }, (_, index) => index);
      const channels = targets.map((target) => {
        const channel = new Channel<unknown>();
        const channelName = { edge: name, fromSubtask: producer, toSubtask: target };
        append(inputs, key(to, target), { channel, input, name: channelName, partitioning });
        return channel;
      });
      const { maxParallelism } = consumer;
      append(outputs, key(from, producer), { partitioning, channels, maxParallelism, mayOvertake });
    }
  }
  return {
    inputs: (stage, subtask) => inputs.get(key(stage, subtask)) ?? [],
    outputs: (stage, subtask) => outputs.get(key(stage, subtask)) ?? [],
  };
}

/**
 * Stages whose inputs are all aligned in every checkpoint, because one of them has to be. What is in flight from one subtask to one other has no
 * key by which another parallelism could divide it, and a broadcast must not be ahead of itself in some subtasks (Flink: the edges that
 * StreamGraphGenerator excludes from unaligned checkpoints).
 */
function alwaysAligned(edges: readonly PlannedEdge[]): ReadonlySet<StageId> {
  return new Set(edges.filter(({ partitioning }) => !canOvertake(partitioning)).map(({ to }) => to));
}

function canOvertake({ kind }: Partitioning): boolean {
  return kind === 'hash' || kind === 'rebalance';
}

/** Which of the edges out of its stage this is. */
function outputOf(edge: PlannedEdge, edges: readonly PlannedEdge[]): number {
  return edges.filter(({ from }) => from === edge.from).indexOf(edge);
}

function headOf({ operators, id }: PlannedStage): OperatorUid {
  return operators[0]?.uid ?? id;
}

function tailOf({ operators, id }: PlannedStage): OperatorUid {
  return operators.at(-1)?.uid ?? id;
}

function key(stage: StageId, subtask: number): string {
  return `${stage}#${String(subtask)}`;
}

function append<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}
