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

  constructor({ id, expected, enumerators, acks }: TakenCheckpoint, plan: Plan) {
    super(id, expected);
    this.enumerators = enumerators;
    for (const [name, ack] of acks) this.acks.set(name, ack);
    this.#plan = plan;
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
    return { ...super.restore, subtasks };
  }
}
