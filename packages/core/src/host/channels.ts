import { Channel } from '../channel/channel.js';
import { grouped } from '../element/grouped.js';
import type { OperatorUid, StageId } from '../element/ids.js';
import type { Plan, PlannedEdge, PlannedStage } from '../graph/plan.js';
import type { ChannelName } from '../snapshot/channel-state.js';
import type { InputChannel } from './input-gate.js';
import type { FeedbackChannel } from './loop-head.js';
import type { Pauses } from './pauses.js';
import type { OutputEdge } from './router.js';

/** What each subtask is connected to. */
export interface Wiring {
  inputs(stage: StageId, subtask: number): readonly InputChannel[];
  /** Of a loop's head. */
  feedback(stage: StageId, subtask: number): readonly FeedbackChannel[];
  outputs(stage: StageId, subtask: number): readonly OutputEdge[];
}

/**
 * Makes a channel for every pair of subtasks that an edge of the plan connects: one to one for forward, all to all for the rest. `pause` lets
 * others run meanwhile.
 */
export async function wire(plan: Plan, pause: Pauses['due'] = () => undefined): Promise<Wiring> {
  const inputs = new Map<string, InputChannel[]>();
  const feedback = new Map<string, FeedbackChannel[]>();
  const outputs = new Map<string, OutputEdge[]>();
  const stages = new Map(plan.stages.map((stage) => [stage.id, stage]));
  const aligned = alwaysAligned(plan.edges);
  // Which of the edges out of its stage each is.
  const outputOf = new Map(
    [...grouped([...plan.edges, ...plan.feedback], ({ from }) => from).values()].flatMap((edges) =>
      edges.map((edge, index) => [edge, index] as const),
    ),
  );
  const connect = async (
    edge: PlannedEdge,
    mayOvertake: boolean,
    channelOf: (name: ChannelName) => Channel<unknown>,
  ): Promise<void> => {
    const { from, to, input, partitioning } = edge;
    const consumer = stages.get(to);
    const producing = stages.get(from);
    if (consumer === undefined || producing === undefined) return;
    const name = {
      producer: tailOf(producing),
      output: outputOf.get(edge) as number,
      consumer: headOf(consumer),
      input,
    };
    for (let producer = 0; producer < producing.parallelism; producer++) {
      await pause();
      const targets =
        partitioning.kind === 'forward'
          ? [producer]
          : Array.from({ length: consumer.parallelism }, (_, index) => index);
      const channels = targets.map((target) => channelOf({ edge: name, fromSubtask: producer, toSubtask: target }));
      const { maxParallelism } = consumer;
      append(outputs, key(from, producer), { partitioning, channels, maxParallelism, mayOvertake });
    }
  };
  for (const edge of plan.edges) {
    const { from, to, input, partitioning } = edge;
    await connect(edge, !aligned.has(to), (name) => {
      const channel = new Channel<unknown>();
      append(inputs, key(to, name.toSubtask), { channel, input, name, partitioning, from });
      return channel;
    });
  }
  for (const edge of plan.feedback) {
    await connect(edge, false, (name) => {
      // Demand is never withdrawn: a loop that waits for itself would stand still. What waits is the head's to bound.
      const channel = new Channel<unknown>(Number.POSITIVE_INFINITY);
      append(feedback, key(edge.to, name.toSubtask), { channel, name, partitioning: edge.partitioning });
      return channel;
    });
  }
  return {
    inputs: (stage, subtask) => inputs.get(key(stage, subtask)) ?? [],
    feedback: (stage, subtask) => feedback.get(key(stage, subtask)) ?? [],
    outputs: (stage, subtask) => outputs.get(key(stage, subtask)) ?? [],
  };
}

/**
 * Stages whose inputs are all aligned in every checkpoint, because one of them has to be. What is in flight from one subtask to one other has no
 * key by which another parallelism could divide it, and a broadcast must not be ahead of itself in some subtasks (Flink: the edges that
 * StreamGraphGenerator excludes from unaligned checkpoints). Nor is there a place for it where another parallelism makes one stage of the two.
 */
function alwaysAligned(edges: readonly PlannedEdge[]): ReadonlySet<StageId> {
  return new Set(edges.filter((edge) => !canOvertake(edge)).map(({ to }) => to));
}

function canOvertake({ partitioning: { kind }, isByParallelism }: PlannedEdge): boolean {
  return !isByParallelism && (kind === 'hash' || kind === 'rebalance');
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
