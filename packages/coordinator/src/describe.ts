import {
  WEIR_VERSION,
  WeirError,
  subtaskName,
  type Acknowledgement,
  type AttemptNumber,
  type CheckpointId,
  type CheckpointMetadata,
  type CoordinatorContext,
  type EnumeratorSnapshot,
  type Lineage,
  type OperatorMetadata,
  type OperatorSnapshot,
  type OperatorUid,
  type PlanDescription,
  type RestoredFrom,
  type StageDescription,
  type SubtaskState,
} from '@weir/core/contracts';
import type { PendingCheckpoint } from './pending-checkpoint.js';
import { sharedBlobsIn } from './shared-blobs.js';

/** What `_metadata` will say about a checkpoint that everybody acknowledged. State of an operator outside the plan is PROTOCOL_VIOLATION: it would be lost. */
export function describeCheckpoint(
  { job }: CoordinatorContext,
  pending: PendingCheckpoint,
  run: {
    /** As it runs: what a restored checkpoint brought along is in it. */
    readonly plan: PlanDescription;
    readonly lineage: Lineage;
    readonly attempt: AttemptNumber;
    readonly restoredFrom: RestoredFrom | undefined;
    readonly keptForUser: readonly CheckpointId[];
  },
): CheckpointMetadata {
  const states = statesByOperator(pending.acks);
  const finished = finishedIn(pending);
  const enumerators = new Map(pending.enumerators.map((e) => [e.uid, e]));
  const operators = run.plan.stages.flatMap((stage) => {
    const { parallelism, maxParallelism } = stage;
    const status = statusOf(stage, finished);
    return stage.operators.map(({ uid }) => ({
      uid,
      parallelism,
      maxParallelism,
      ...status,
      enumerator: enumeratorState(enumerators.get(uid)),
      subtasks: (states.get(uid) ?? []).toSorted((a, b) => a.index - b.index),
    }));
  });
  const planned = new Set(operators.map((o) => o.uid));
  for (const uid of [...states.keys(), ...enumerators.keys()]) {
    if (!planned.has(uid)) {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        `Checkpoint ${String(pending.id)} of job ${job} has state of operator ${uid}, which is not in the plan.`,
      );
    }
  }
  return {
    job,
    lineage: run.lineage,
    attempt: run.attempt,
    checkpointId: pending.id,
    kind: pending.savepoint === undefined ? 'checkpoint' : 'savepoint',
    triggeredAt: pending.triggeredAt,
    restoredFrom: run.restoredFrom,
    weirVersion: WEIR_VERSION,
    nodeVersion: process.versions.node,
    selfContained: sharedBlobsIn({ operators }).length === 0,
    graphHash: run.plan.graphHash,
    operators,
    ...(run.keptForUser.length > 0 ? { keptForUser: run.keptForUser } : {}),
  };
}

/** Names of subtasks that are past their end: those that do not take part any more, and those that said so (Flink: DefaultCheckpointPlan). */
export function finishedIn(pending: PendingCheckpoint): ReadonlySet<string> {
  const reported = pending.acks.filter(({ snapshot }) => snapshot.finished === true);
  return new Set([...pending.finished, ...reported.map(({ subtask }) => subtaskName(subtask))]);
}

function statusOf(
  { id, parallelism }: StageDescription,
  finished: ReadonlySet<string>,
): Pick<OperatorMetadata, 'status' | 'finishedSubtasks'> {
  const indexes = Array.from({ length: parallelism }, (_, index) => index);
  const finishedSubtasks = indexes.filter((index) => finished.has(subtaskName({ stage: id, index })));
  if (finishedSubtasks.length === 0) return { status: 'running' };
  if (finishedSubtasks.length === parallelism) return { status: 'finished' };
  return { status: 'partly-finished', finishedSubtasks };
}

function statesByOperator(acks: readonly Acknowledgement[]): ReadonlyMap<OperatorUid, readonly SubtaskState[]> {
  const states = new Map<OperatorUid, SubtaskState[]>();
  for (const { subtask, snapshot } of acks) {
    for (const operator of snapshot.operators) {
      const state = subtaskState(subtask.index, operator);
      const known = states.get(operator.uid);
      if (known === undefined) states.set(operator.uid, [state]);
      else known.push(state);
    }
  }
  return states;
}

function subtaskState(
  index: number,
  { keyed, keyTypes, operator, committables, channels = [] }: OperatorSnapshot,
): SubtaskState {
  return { index, keyed, ...(keyTypes !== undefined && { keyTypes }), operator, committables, channels };
}

function enumeratorState(
  snapshot: EnumeratorSnapshot | undefined,
): CheckpointMetadata['operators'][number]['enumerator'] {
  return snapshot === undefined ? undefined : { serializer: snapshot.serializer, bytes: snapshot.bytes };
}
