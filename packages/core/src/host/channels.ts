import { Channel } from '../channel/channel.js';
import type { StageId } from '../element/ids.js';
import type { Plan } from '../graph/plan.js';
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
  for (const { from, to, input, partitioning } of plan.edges) {
    const consumer = stages.get(to);
    const producers = stages.get(from)?.parallelism ?? 0;
    if (consumer === undefined) continue;
    for (let producer = 0; producer < producers; producer++) {
      const targets =
        partitioning.kind === 'forward'
          ? [producer]
          : Array.from({ length: consumer.parallelism }, (_, index) => index);
      const channels = targets.map((target) => {
        const channel = new Channel<unknown>();
        append(inputs, key(to, target), { channel, input });
        return channel;
      });
      append(outputs, key(from, producer), { partitioning, channels, maxParallelism: consumer.maxParallelism });
    }
  }
  return {
    inputs: (stage, subtask) => inputs.get(key(stage, subtask)) ?? [],
    outputs: (stage, subtask) => outputs.get(key(stage, subtask)) ?? [],
  };
}

function key(stage: StageId, subtask: number): string {
  return `${stage}#${String(subtask)}`;
}

function append<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}
