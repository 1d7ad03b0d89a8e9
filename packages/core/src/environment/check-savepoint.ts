import type { CoordinatorContext, ExaminedCheckpoint } from '../contracts/coordinator.js';
import type { OperatorMetadata } from '../contracts/metadata.js';
import { describeParts, permissionFor, storedParts } from '../contracts/stored-parts.js';
import { CheckpointStorageRole, CoordinatorRole, StateBackendRole } from '../contracts/roles.js';
import { subtaskName } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { declaredStates, type PlannedStates } from '../graph/declared-states.js';
import { describePlan, type PlannedOperator, type PlannedStage } from '../graph/plan.js';
import type { CheckpointingOfJob } from './checkpoint-settings.js';
import { disposeAfter } from './dispose-after.js';
import { prepareJob, type JobDescription, type PreparedJob } from './prepare-job.js';
import { worstOf, type OperatorReport, type SavepointProblem, type SavepointReport } from './savepoint-report.js';
import { stateReports, type StoredOperator } from './state-reports.js';

/**
 * What a start from `path` would do with each state, without the start: reads `_metadata`, and no state. It asks the functions that a start asks, so
 * that what is incompatible here is refused there. What only values can tell, a step that throws or a schema, a start finds out.
 */
export async function checkSavepoint(description: JobDescription, path: string): Promise<SavepointReport> {
  const prepared = await prepareJob({ ...description, restoreFrom: { path } });
  const { container } = prepared;
  try {
    const coordinators = container.get(CoordinatorRole);
    if (coordinators.examine === undefined)
      throw new WeirError(
        'PLUGIN_MISSING',
        `The checkpoint coordinator that is installed cannot look at a savepoint without a start. Install @weir/coordinator.`,
        { recoverable: false },
      );
    const examined = await coordinators.examine(contextOf(description, prepared), path);
    try {
      return await reportOf(examined, description, prepared);
    } finally {
      await examined.close();
    }
  } finally {
    await disposeAfter(container, description.host.logger);
  }
}

function contextOf({ name, host }: JobDescription, { plan, settings, container }: PreparedJob): CoordinatorContext {
  const { clock, random, newId, metrics } = host;
  return {
    job: name,
    plan: describePlan(plan),
    // To be prepared for a restore, a job has to have checkpointing on.
    settings: settings as CheckpointingOfJob,
    storage: container.get(CheckpointStorageRole),
    clock,
    random,
    newId,
    metrics,
    logger: host.logger.child({ job: name }),
    emit: () => undefined,
    failAttempt: () => undefined,
  };
}

async function reportOf(
  examined: ExaminedCheckpoint,
  { host }: JobDescription,
  { plan, settings, container }: PreparedJob,
): Promise<SavepointReport> {
  const { pointer, metadata, outcome } = examined;
  const { job, kind, checkpointId } = metadata;
  const stored = new Map(metadata.operators.map((operator) => [operator.uid, operator]));
  const problems: readonly SavepointProblem[] =
    outcome.kind === 'fits' ? [] : [{ code: outcome.error.code, message: outcome.error.message }];
  const engine = hasNativeState(examined) ? container.get(StateBackendRole).type : undefined;
  const planned: OperatorReport[] = [];
  for (const stage of plan.stages) {
    for (const operator of stage.operators) {
      const { uid } = operator;
      const found = stored.get(uid);
      stored.delete(uid);
      const declared = declaredStates(operator, host.clock);
      const where = `operator '${uid}' in chk-${String(checkpointId)}`;
      const restored = storedOf(operator, stage, found, examined);
      const reports = stateReports(restored, declared, engine, where);
      const isKept = found !== undefined && (hasState(found) || found.status !== 'running');
      if (reports.length === 0 && !isKept) continue;
      // Of what has finished nothing is opened.
      const states = found?.status === 'finished' ? reports.filter(({ verdict }) => verdict !== 'new') : reports;
      const otherKeys = keysOfOtherType(restored, declared);
      planned.push({
        uid,
        verdict:
          otherKeys !== undefined ? 'incompatible' : isKept ? worstOf(states.map(({ verdict }) => verdict)) : 'new',
        why: otherKeys ?? (isKept ? finishedOr(found) : 'nothing is stored under this uid'),
        parallelism: { stored: found?.parallelism, now: stage.parallelism },
        states,
      });
    }
  }
  const unclaimed = [...stored.values()].filter(hasState).map((operator) => unclaimedReport(operator, settings));
  const operators = [...planned, ...unclaimed];
  const fits = problems.length === 0 && operators.every(({ verdict }) => verdict !== 'incompatible');
  return { pointer, job, kind, checkpointId, fits, problems, operators };
}

/** Why keys that are stored could not be those of the job; undefined if they could. */
function keysOfOtherType({ parts }: StoredOperator, { keyTypes }: PlannedStates): string | undefined {
  const stored = new Set(parts.flatMap((part) => part.keyTypes ?? []));
  const others = [...stored].filter((type) => keyTypes?.includes(type) === false);
  if (keyTypes === undefined || others.length === 0) return undefined;
  return `KEY_TYPE_CHANGED: its state has keys of type ${others.join(' and ')}, and keyBy declares keys of type ${keyTypes.join(' or ')}`;
}

/** What a start would hand to the operator; where it would be refused before that, all that is stored. */
function storedOf(
  { uid }: PlannedOperator,
  { id, parallelism }: PlannedStage,
  found: OperatorMetadata | undefined,
  { outcome }: ExaminedCheckpoint,
): StoredOperator {
  if (outcome.kind === 'refused')
    return {
      parts: (found?.subtasks ?? []).map((subtask) => ({ ...subtask, uid })),
      enumerator: found?.enumerator,
    };
  const { subtasks, enumerators, finished } = outcome.restore;
  const names = Array.from({ length: parallelism }, (_, index) => subtaskName({ stage: id, index }));
  const hasFinished = names.every((name) => finished?.has(name) === true);
  return {
    parts: names.flatMap((name) => (subtasks.get(name) ?? []).filter((part) => part.uid === uid)),
    enumerator: hasFinished ? undefined : enumerators.get(uid),
  };
}

function hasNativeState({ metadata }: ExaminedCheckpoint): boolean {
  return metadata.operators.some(({ subtasks }) =>
    subtasks.some(({ keyed }) => keyed.some(({ format }) => format === 'native')),
  );
}

function unclaimedReport(operator: OperatorMetadata, settings: CheckpointingOfJob | undefined): OperatorReport {
  const parts = storedParts(operator);
  const missing = new Set(parts.map(permissionFor).filter((permission) => settings?.[permission] !== true));
  const choice = `give one the former uid, or set ${[...missing].join(' and ')}`;
  return {
    uid: operator.uid,
    verdict: missing.size === 0 ? 'dropped' : 'incompatible',
    why: `the job has no operator of this uid, and there is ${describeParts(parts)} of it${missing.size === 0 ? '' : `: ${choice}`}`,
    parallelism: { stored: operator.parallelism, now: undefined },
    states: [],
  };
}

function hasState(operator: OperatorMetadata): boolean {
  return storedParts(operator).length > 0;
}

function finishedOr({ status }: OperatorMetadata): string {
  switch (status) {
    case 'running':
      return '';
    case 'partly-finished':
      return 'some of its subtasks had finished';
    case 'finished':
      return 'it had finished';
  }
}
