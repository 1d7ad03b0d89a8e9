import type { CheckpointMetadata, OperatorMetadata, OperatorUid, PlanDescription } from '@weir/core/contracts';

/** A checkpoint without the state that no operator of the plan claims, and whose that was. */
export interface ClaimedState {
  readonly metadata: CheckpointMetadata;
  readonly unclaimed: readonly OperatorUid[];
}

/** What is left of a checkpoint for a job that has lost operators (Flink: allowNonRestoredState). Operators without state are nobody's loss. */
export function claimedState(plan: PlanDescription, metadata: CheckpointMetadata): ClaimedState {
  const planned = new Set(plan.stages.flatMap((stage) => stage.operators.map(({ uid }) => uid)));
  const isClaimed = ({ uid }: OperatorMetadata): boolean => planned.has(uid);
  return {
    metadata: { ...metadata, operators: metadata.operators.filter(isClaimed) },
    unclaimed: metadata.operators
      .filter((operator) => !isClaimed(operator) && hasState(operator))
      .map(({ uid }) => uid),
  };
}

function hasState({ enumerator, subtasks }: OperatorMetadata): boolean {
  return enumerator !== undefined || subtasks.length > 0;
}
