import {
  WeirError,
  isEmptySnapshot,
  storedParts,
  subtaskName,
  type CheckpointMetadata,
  type EnumeratorSnapshot,
  type OperatorDescription,
  type OperatorMetadata,
  type OperatorRestore,
  type OperatorUid,
  type PlanDescription,
  type StageDescription,
} from '@weir/core/contracts';
import { reassign } from './reassign/reassign.js';

/** Which state goes to which subtask of the present plan. */
export interface StateAssignment {
  /** Keyed by subtaskName. */
  readonly subtasks: ReadonlyMap<string, readonly OperatorRestore[]>;
  readonly enumerators: ReadonlyMap<OperatorUid, EnumeratorSnapshot>;
}

/**
 * Gives every operator the state that was stored under its uid, dealt out to as many subtasks as it has now (Flink: StateAssignmentOperation); an
 * operator without stored state starts empty. Throws CHECKPOINT_INCOMPATIBLE, naming each operator whose state does not fit: nothing is dropped.
 */
export function assignState(plan: PlanDescription, metadata: CheckpointMetadata): StateAssignment {
  const stored = new Map(metadata.operators.filter(hasState).map((o) => [o.uid, o]));
  const subtasks = new Map<string, OperatorRestore[]>();
  const enumerators = new Map<OperatorUid, EnumeratorSnapshot>();
  const problems: string[] = [];

  for (const stage of plan.stages) {
    for (const operator of stage.operators) {
      const found = stored.get(operator.uid);
      if (found === undefined) continue;
      stored.delete(operator.uid);
      const misfit = misfits(stage, operator, found);
      problems.push(...misfit);
      if (misfit.length > 0) continue;
      if (found.enumerator !== undefined) enumerators.set(found.uid, { uid: found.uid, ...found.enumerator });
      for (const [index, parts] of reassign(found, stage).entries()) {
        if (parts.length === 0) continue;
        const name = subtaskName({ stage: stage.id, index });
        subtasks.set(name, [...(subtasks.get(name) ?? []), ...parts]);
      }
    }
  }
  for (const uid of stored.keys()) problems.push(`operator ${uid} has state in it, and the job has no such operator`);

  if (problems.length > 0) {
    throw new WeirError(
      'CHECKPOINT_INCOMPATIBLE',
      `Checkpoint ${String(metadata.checkpointId)} does not fit job ${metadata.job}: ${problems.join('; ')}.`,
      { recoverable: false },
    );
  }
  return { subtasks, enumerators };
}

function hasState(operator: OperatorMetadata): boolean {
  return storedParts(operator).length > 0;
}

function misfits(stage: StageDescription, operator: OperatorDescription, found: OperatorMetadata): readonly string[] {
  const name = `operator ${operator.uid}`;
  const problems: string[] = [];
  if (found.maxParallelism !== stage.maxParallelism) {
    problems.push(
      `${name} ran with maximum parallelism ${String(found.maxParallelism)} and now has ${String(stage.maxParallelism)}`,
    );
  }
  const isSource = stage.isSource && stage.operators[0]?.uid === operator.uid;
  const isSink = operator.sinkGrade !== undefined;
  if (found.enumerator !== undefined && !isSource) problems.push(`${name} was a source and no longer is`);
  if (found.subtasks.some((s) => s.committables !== undefined) && !isSink) {
    problems.push(`${name} was a sink with output to commit and no longer is`);
  }
  // What was in flight to an operator is no state of its own.
  const hadState = found.subtasks.some((subtask) => !isEmptySnapshot({ ...subtask, channels: [] }));
  if (hadState && !operator.isStateful && !isSource && !isSink) {
    problems.push(`${name} has state in it and no longer keeps any`);
  }
  return problems;
}
