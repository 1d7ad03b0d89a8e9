import {
  WeirError,
  type CheckpointMetadata,
  type PlanDescription,
  type StageDescription,
  type StageId,
} from '@weir/core/contracts';

/**
 * The plan with the maximum parallelism of the checkpoint in every stage that leaves it open: it is what keys were dealt out by
 * (Flink: StateAssignmentOperation.checkParallelismPreconditions). CHECKPOINT_INCOMPATIBLE if the parallelism is above it.
 */
export function adoptMaxParallelism(plan: PlanDescription, metadata: CheckpointMetadata): PlanDescription {
  const stages = plan.stages.map((stage) => {
    const maxParallelism = storedMaximum(stage, metadata);
    return maxParallelism === undefined ? stage : { ...stage, maxParallelism };
  });
  const tooWide = stages.find((stage) => stage.parallelism > stage.maxParallelism);
  if (tooWide !== undefined) {
    const { id, parallelism, maxParallelism } = tooWide;
    throw new WeirError(
      'CHECKPOINT_INCOMPATIBLE',
      `Checkpoint ${String(metadata.checkpointId)} does not fit job ${metadata.job}: operator ${id} has parallelism ${String(parallelism)}, ` +
        `and its state was made for at most ${String(maxParallelism)}. Start it with no more than that.`,
      { recoverable: false },
    );
  }
  return { ...plan, stages };
}

/** The maximum parallelism that each stage has taken over. */
export function adopted(plan: PlanDescription): ReadonlyMap<StageId, number> {
  const adopting = plan.stages.filter((stage) => stage.adoptsMaxParallelism === true);
  return new Map(adopting.map(({ id, maxParallelism }) => [id, maxParallelism]));
}

/** Of the first operator with state: should others of the stage differ, they are refused with the rest of what does not fit. */
function storedMaximum(
  { adoptsMaxParallelism = false, operators }: StageDescription,
  metadata: CheckpointMetadata,
): number | undefined {
  if (!adoptsMaxParallelism) return undefined;
  const uids = new Set(operators.map(({ uid }) => uid));
  return metadata.operators.find(({ uid, subtasks }) => uids.has(uid) && subtasks.length > 0)?.maxParallelism;
}
