import { WeirError, type CheckpointMetadata, type PlanDescription } from '@weir/core/contracts';

/** A job has one maximum parallelism, so that of any of its operators. */
export function maxParallelismOf({ operators }: CheckpointMetadata): number | undefined {
  return operators[0]?.maxParallelism;
}

/**
 * The plan over the key groups of the checkpoint, which are fixed for good: they are what keyed state is stored by. Throws
 * CHECKPOINT_MAX_PARALLELISM if the user set another maximum, or if an operator has more subtasks than the checkpoint has key groups.
 * (Flink: StateAssignmentOperation.checkParallelismPreconditions.)
 */
export function adoptMaxParallelism(plan: PlanDescription, metadata: CheckpointMetadata): PlanDescription {
  const stored = maxParallelismOf(metadata);
  const own = plan.stages[0]?.maxParallelism;
  if (stored === undefined || stored === own) return plan;
  if (plan.isMaxParallelismSet) {
    throw refused(
      metadata,
      `was taken with maximum parallelism ${String(stored)}, and the job sets ${String(own)}. ` +
        `It decides which key belongs to which key group, so it cannot change: set ${String(stored)}, or leave it out.`,
    );
  }
  const wider = plan.stages.filter(({ parallelism }) => parallelism > stored);
  if (wider.length > 0) {
    const operators = wider.flatMap((stage) =>
      stage.operators.map(({ uid }) => `operator ${uid} has parallelism ${String(stage.parallelism)}`),
    );
    throw refused(
      metadata,
      `was taken with maximum parallelism ${String(stored)}, which no parallelism can exceed: ${operators.join('; ')}. ` +
        `Lower it to ${String(stored)} at most.`,
    );
  }
  return { ...plan, stages: plan.stages.map((stage) => ({ ...stage, maxParallelism: stored })) };
}

function refused({ checkpointId, job }: CheckpointMetadata, what: string): WeirError {
  return new WeirError('CHECKPOINT_MAX_PARALLELISM', `Checkpoint ${String(checkpointId)} of job ${job} ${what}`, {
    recoverable: false,
  });
}
