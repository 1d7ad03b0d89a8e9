import {
  WeirError,
  subtaskName,
  type CheckpointMetadata,
  type OperatorMetadata,
  type PlanDescription,
  type StageDescription,
  type StageId,
} from '@weir/core/contracts';

type Status = OperatorMetadata['status'];

/**
 * Names of the subtasks of the present plan that the checkpoint says were past their end. Where some subtasks of an operator were and its
 * parallelism has changed, all run: the state of those that were not is dealt out to them (Flink: StateAssignmentOperation).
 */
export function finishedSubtasks(plan: PlanDescription, metadata: CheckpointMetadata): ReadonlySet<string> {
  const stored = byUid(metadata);
  const names = plan.stages.flatMap(({ id, parallelism, operators }) => {
    const [head] = operators;
    const found = head === undefined ? undefined : stored.get(head.uid);
    const indexes = Array.from({ length: parallelism }, (_, index) => index);
    return indexes
      .filter((index) => found !== undefined && hasFinished(found, index, parallelism))
      .map((index) => subtaskName({ stage: id, index }));
  });
  return new Set(names);
}

function hasFinished(
  { status, finishedSubtasks = [], parallelism }: OperatorMetadata,
  index: number,
  now: number,
): boolean {
  if (status === 'finished') return true;
  return status === 'partly-finished' && parallelism === now && finishedSubtasks.includes(index);
}

/**
 * Refuses a plan in which something that was past its end would have to go on: a stage gets records only if what is in front of it does
 * (Flink: VertexFinishedStateChecker). Throws CHECKPOINT_INCOMPATIBLE naming what is illegal.
 */
export function checkFinished(plan: PlanDescription, metadata: CheckpointMetadata): void {
  if (metadata.operators.every(({ status }) => status === 'running')) return;
  const stored = byUid(metadata);
  const problems: string[] = [];
  const statuses = new Map<StageId, Status>();
  for (const stage of plan.stages) {
    const status = statusOf(stage, stored);
    if (status === undefined)
      problems.push(`operators ${uidsOf(stage)} share a stage, and only some of them had finished`);
    statuses.set(stage.id, status ?? 'running');
  }
  for (const { from, to, isPointwise } of plan.edges) {
    const [before, after] = [statuses.get(from) ?? 'running', statuses.get(to) ?? 'running'];
    const isLegal =
      after === 'running' ||
      before === 'finished' ||
      (after === 'partly-finished' && isPointwise && before !== 'running');
    if (!isLegal)
      problems.push(`${to} had ${said(after)}, and ${from}, which it now gets records from, ${saidNot(before)}`);
  }
  if (problems.length === 0) return;
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `Checkpoint ${String(metadata.checkpointId)} does not fit job ${metadata.job}: ${problems.join('; ')}. What has finished cannot go on: give new operators and connections a place behind it.`,
    { recoverable: false },
  );
}

/** Undefined if the operators differ. One that is new in the job is to run. */
function statusOf({ operators }: StageDescription, stored: ReadonlyMap<string, OperatorMetadata>): Status | undefined {
  const statuses = new Set(operators.map(({ uid }) => stored.get(uid)?.status ?? 'running'));
  const [status] = statuses;
  return statuses.size === 1 ? status : undefined;
}

function byUid({ operators }: CheckpointMetadata): ReadonlyMap<string, OperatorMetadata> {
  return new Map(operators.map((operator) => [operator.uid, operator]));
}

function uidsOf({ operators }: StageDescription): string {
  return operators.map(({ uid }) => uid).join(', ');
}

function said(status: Status): string {
  return status === 'finished' ? 'finished' : 'finished in part';
}
function saidNot(status: Status): string {
  return status === 'running' ? 'had not' : 'only in part';
}
