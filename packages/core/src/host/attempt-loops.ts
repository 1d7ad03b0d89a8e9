import type { TemporaryFiles } from '../contracts/temporary-files.js';
import { grouped } from '../element/grouped.js';
import type { CheckpointId, StageId } from '../element/ids.js';
import type { Plan, PlannedOperator, PlannedStage } from '../graph/plan.js';
import type { LoopNode } from '../graph/stream-node.js';
import { withErrorContext } from '../state/with-error-context.js';
import type { DeployedSubtask } from './deploy.js';
import { LoopEnd, stagesOfLoop } from './loop-end.js';
import type { FeedbackChannel } from './loop-head.js';
import type { SubtaskLoop } from './subtask-input.js';

export interface AttemptLoopsOptions {
  readonly plan: Plan;
  readonly checkpointing: boolean;
  /** False: what goes round in loops is in no checkpoint. */
  readonly logLoops?: boolean | undefined;
  /** Place for feedback that does not fit into memory. */
  readonly temporaryFiles: TemporaryFiles;
  /** Checkpoints whose barriers have left the sources and that are not over. */
  readonly underWay: () => Iterable<CheckpointId>;
}

/** Loops of an attempt: what their heads are given, and when each is over. */
export class AttemptLoops {
  readonly #options: AttemptLoopsOptions;
  /** Ends of the loops that a stage is part of. */
  readonly #ends = new Map<StageId, LoopEnd[]>();

  constructor(options: AttemptLoopsOptions) {
    this.#options = options;
  }

  /** Feedback of a subtask of the stage; undefined if it is no loop's head. */
  of({ operators }: PlannedStage, feedback: readonly FeedbackChannel[]): SubtaskLoop | undefined {
    const head = operators[0] as PlannedOperator;
    const loop = loopNodeOf(head);
    if (loop === undefined) return undefined;
    const { checkpointing, logLoops = true, temporaryFiles, underWay } = this.#options;
    return {
      feedback,
      serializer: withErrorContext(loop.serializer, head.uid, 'loop'),
      bounds: loop.bounds,
      temporaryFiles,
      logged: checkpointing && logLoops,
      underWay,
    };
  }

  /** Watches for the end of each loop from now on. */
  watch(deployed: readonly DeployedSubtask[]): void {
    const { plan } = this.#options;
    const heads = new Set(plan.feedback.map(({ to }) => to));
    const byStage = grouped(deployed, ({ stage }) => stage.id);
    const subtasksOf = (stage: StageId): readonly DeployedSubtask['subtask'][] =>
      (byStage.get(stage) ?? []).map(({ subtask }) => subtask);
    for (const head of heads) {
      const stages = stagesOfLoop(plan, head);
      const others = [...stages].filter((stage) => stage !== head);
      const end = new LoopEnd(stages, subtasksOf(head), others.flatMap(subtasksOf));
      for (const stage of stages) this.#ends.set(stage, [...(this.#ends.get(stage) ?? []), end]);
    }
  }

  /** A subtask of the stage has nothing left to do. */
  idle(stage: StageId): void {
    for (const end of this.#ends.get(stage) ?? []) end.look();
  }
}

export function loopNodeOf({ node }: PlannedOperator): LoopNode | undefined {
  return node.kind === 'operator' ? node.loop : undefined;
}
