import type { RestorePlan } from '../../src/contracts/coordinator.js';
import type { OperatorSnapshot } from '../../src/contracts/snapshot.js';
import { subtaskName } from '../../src/element/ids.js';
import type { Plan } from '../../src/graph/plan.js';
import { TakenCheckpoint } from './attempt-bench.js';

/**
 * A checkpoint as subtasks of another plan are given it: keyed state and what was in flight to each of them, which takes what is its own, and the
 * rest of each old subtask to one new one.
 */
export class RescaledCheckpoint extends TakenCheckpoint {
  readonly #plan: Plan;
  readonly #finishedBefore: ReadonlySet<string>;

  constructor(taken: TakenCheckpoint, plan: Plan) {
    super(taken.id);
    this.expected = taken.expected;
    this.enumerators = taken.enumerators;
    for (const [name, ack] of taken.acks) this.acks.set(name, ack);
    this.#plan = plan;
    this.#finishedBefore = taken.restore.finished ?? new Set();
  }

  override get restore(): RestorePlan {
    const subtasks = new Map<string, readonly OperatorSnapshot[]>();
    for (const { id: stage, parallelism } of this.#plan.stages) {
      const old = [...this.acks.values()].filter(({ subtask }) => subtask.stage === stage);
      for (let index = 0; index < parallelism; index++) {
        const parts = old.flatMap(({ subtask, snapshot }) =>
          snapshot.operators.map(({ uid, keyed, operator, committables, channels }): OperatorSnapshot => {
            const shared = { uid, keyed, channels };
            const isHeir = subtask.index % parallelism === index;
            return isHeir ? { ...shared, operator, committables } : { ...shared, operator: [] };
          }),
        );
        subtasks.set(subtaskName({ stage, index }), parts);
      }
    }
    return { ...super.restore, subtasks, finished: this.#finished() };
  }

  /** Those of a stage of which every subtask was past its end; where only some were, all run. */
  #finished(): ReadonlySet<string> {
    const isRunning = (stage: string): boolean =>
      [...this.acks].some(([name, { subtask }]) => subtask.stage === stage && !this.#finishedBefore.has(name));
    const wasFinished = (stage: string): boolean =>
      [...this.#finishedBefore].some((name) => name.startsWith(`${stage}#`)) && !isRunning(stage);
    const stages = this.#plan.stages.filter(({ id }) => wasFinished(id));
    return new Set(
      stages.flatMap(({ id: stage, parallelism }) =>
        Array.from({ length: parallelism }, (_, index) => subtaskName({ stage, index })),
      ),
    );
  }
}
