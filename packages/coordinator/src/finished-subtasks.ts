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
 * parallelism has changed, or it shares a stage with others that were not, all run, and all behind it: the state of those that were not is
 * dealt out to them (Flink: StateAssignmentOperation).
 */
export function finishedSubtasks(plan: PlanDescription, metadata: CheckpointMetadata): ReadonlySet<string> {
  const stored = byUid(metadata);
  const statuses = statusesIn(plan, stored);
  return new Set(
    plan.stages.flatMap((stage) =>
      finishedIndexes(stage, statuses.get(stage.id), stored).map((index) => subtaskName({ stage: stage.id, index })),
    ),
  );
}

function finishedIndexes(
  stage: StageDescription,
  status: Status | undefined,
  stored: ReadonlyMap<string, OperatorMetadata>,
): readonly number[] {
  switch (status) {
    case 'finished':
      return Array.from({ length: stage.parallelism }, (_, index) => index);
    case 'partly-finished':
      return stored.get(stage.operators[0]?.uid ?? '')?.finishedSubtasks ?? [];
    case 'running':
    case undefined:
      return [];
  }
}

/**
 * Refuses a plan in which something that was past its end would have to go on: a stage gets records only if what is in front of it does
 * (Flink: VertexFinishedStateChecker). Throws CHECKPOINT_INCOMPATIBLE naming what is illegal.
 */
export function checkFinished(plan: PlanDescription, metadata: CheckpointMetadata): void {
  if (metadata.operators.every(({ status }) => status === 'running')) return;
  const stored = byUid(metadata);
  const problems: string[] = [];
  const statuses = statusesIn(plan, stored);
  for (const stage of plan.stages) {
    if (statuses.get(stage.id) === undefined)
      problems.push(
        `operators ${uidsOf(stage)} share a stage, and only some of them had finished${keptApart(stage, stored)}`,
      );
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

/** How each stage goes on. What had finished in part runs again where it gets records from something that, by another parallelism, does. */
function statusesIn(
  { stages, edges }: PlanDescription,
  stored: ReadonlyMap<string, OperatorMetadata>,
): ReadonlyMap<StageId, Status | undefined> {
  const statuses = new Map<StageId, Status | undefined>();
  const reopened = new Set<StageId>();
  for (const stage of stages) {
    const status = statusOf(stage, stored);
    const isFed = edges.some(({ from, to }) => to === stage.id && reopened.has(from));
    const now = status === 'partly-finished' && isFed ? 'running' : status;
    statuses.set(stage.id, now);
    const hadFinished = stage.operators.some(({ uid }) => stored.get(uid)?.status === 'partly-finished');
    if (now === 'running' && hadFinished) reopened.add(stage.id);
  }
  return statuses;
}

/** Undefined if the operators cannot share a stage. One that is new in the job is to run. */
function statusOf(
  { operators, parallelism }: StageDescription,
  stored: ReadonlyMap<string, OperatorMetadata>,
): Status | undefined {
  const found = operators.map(({ uid }) => stored.get(uid));
  const hasFinished = found.map((operator) => operator?.status === 'finished');
  if (hasFinished.some(Boolean)) return hasFinished.every(Boolean) ? 'finished' : undefined;
  const parts = new Set(found.map((operator) => finishedPart(operator, parallelism)));
  return parts.size === 1 && !parts.has('') ? 'partly-finished' : 'running';
}

/** The same for operators of which the same subtasks had finished; empty where all are to run. */
function finishedPart(found: OperatorMetadata | undefined, parallelism: number): string {
  return found?.status === 'partly-finished' && found.parallelism === parallelism
    ? (found.finishedSubtasks ?? []).join()
    : '';
}

function byUid({ operators }: CheckpointMetadata): ReadonlyMap<string, OperatorMetadata> {
  return new Map(operators.map((operator) => [operator.uid, operator]));
}

function uidsOf({ operators }: StageDescription): string {
  return operators.map(({ uid }) => uid).join(', ');
}

/** What to do where only another parallelism has brought them together. */
function keptApart(
  { operators, parallelism }: StageDescription,
  stored: ReadonlyMap<string, OperatorMetadata>,
): string {
  const moved = operators.flatMap(({ uid }) => {
    const before = stored.get(uid)?.parallelism ?? parallelism;
    return before === parallelism ? [] : [`${uid} ${String(before)}`];
  });
  return moved.length === 0 ? '' : ` (start them at the parallelism that they had: ${moved.join(', ')})`;
}

function said(status: Status): string {
  return status === 'finished' ? 'finished' : 'finished in part';
}
function saidNot(status: Status): string {
  return status === 'running' ? 'had not' : 'only in part';
}
