import type { KeyedStateStore } from '../contracts/state-backend.js';
import type { Plan, PlannedStage } from '../graph/plan.js';
import { wire } from './channels.js';
import type { InputChannel } from './input-gate.js';
import type { FeedbackChannel } from './loop-head.js';
import type { Pauses } from './pauses.js';
import type { OutputEdge } from './router.js';
import type { Subtask } from './subtask.js';

/** Place of a subtask in the plan, and what it is connected to there. */
export interface SubtaskPlace {
  readonly stage: PlannedStage;
  readonly index: number;
  readonly inputs: readonly InputChannel[];
  /** Channels that a loop's head has from its own loop. */
  readonly feedback: readonly FeedbackChannel[];
  readonly outputs: readonly OutputEdge[];
  /** Keyed state that its operators have opened. */
  readonly stores: KeyedStateStore[];
}

/** A subtask that runs here. */
export interface DeployedSubtask extends Omit<SubtaskPlace, 'outputs'> {
  readonly subtask: Subtask;
}

export interface Deployment {
  /** Makes the subtask of a place. */
  readonly subtaskOf: (place: SubtaskPlace) => Subtask;
  /** Is told of each at once: whoever is stopped halfway closes those that are there. */
  readonly onDeployed: (deployed: DeployedSubtask) => void;
  readonly pauses: Pauses;
  /** Aborts with the attempt. */
  readonly signal: AbortSignal;
}

/** Makes the subtasks of the plan that run here, which are all of them, before any of them is opened. */
export async function deploy(plan: Plan, { subtaskOf, onDeployed, pauses, signal }: Deployment): Promise<void> {
  const wiring = await wire(plan, pauses.due);
  for (const stage of plan.stages) {
    for (let index = 0; index < stage.parallelism; index++) {
      await pauses.due();
      signal.throwIfAborted();
      const inputs = wiring.inputs(stage.id, index);
      const feedback = wiring.feedback(stage.id, index);
      const place: Omit<SubtaskPlace, 'outputs'> = { stage, index, inputs, feedback, stores: [] };
      const subtask = subtaskOf({ ...place, outputs: wiring.outputs(stage.id, index) });
      onDeployed({ ...place, subtask });
    }
  }
}
