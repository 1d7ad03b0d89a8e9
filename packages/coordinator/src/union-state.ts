import { subtaskName, type OperatorUid, type PlanDescription } from '@weir/core/contracts';
import { finishedIn } from './describe.js';
import type { PendingCheckpoint } from './pending-checkpoint.js';

/**
 * The operators whose union state would lose the part of subtasks that have finished: every subtask is to restore the parts of all, and those have
 * none any more (Flink: DefaultCheckpointPlan, checkNoPartlyFinishedVertexUsedUnionListState). A checkpoint with any of them is not taken.
 */
export function partlyFinishedUnions(plan: PlanDescription, pending: PendingCheckpoint): readonly OperatorUid[] {
  const finished = finishedIn(pending);
  if (finished.size === 0) return [];
  const partly = new Set(
    plan.stages
      .filter(({ id, parallelism }) => {
        const names = Array.from({ length: parallelism }, (_, index) => subtaskName({ stage: id, index }));
        const count = names.filter((name) => finished.has(name)).length;
        return count > 0 && count < parallelism;
      })
      .flatMap(({ operators }) => operators.map(({ uid }) => uid)),
  );
  const unions = pending.acks
    .flatMap(({ snapshot }) => snapshot.operators)
    .filter(({ uid, operator }) => partly.has(uid) && operator.some(({ mode }) => mode === 'union'));
  return [...new Set(unions.map(({ uid }) => uid))];
}
