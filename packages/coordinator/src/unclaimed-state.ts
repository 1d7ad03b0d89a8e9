import {
  WeirError,
  describeParts,
  permissionFor,
  storedParts,
  type CheckpointMetadata,
  type CheckpointSettings,
  type OperatorMetadata,
  type PlanDescription,
  type StoredPart,
} from '@weir/core/contracts';

/** A checkpoint without what no operator of the plan claims. */
export interface ClaimedState {
  readonly metadata: CheckpointMetadata;
  /** What is left behind, and whose it was: "state of totals". */
  readonly unclaimed: readonly string[];
}

/**
 * What is left of a checkpoint for a job that has lost operators. Operators without state are nobody's loss. CHECKPOINT_INCOMPATIBLE for what the
 * settings do not allow to be left behind: state, or what records would be lost with (Flink's allowNonRestoredState gives up both).
 */
export function claimedState(
  plan: PlanDescription,
  metadata: CheckpointMetadata,
  settings: CheckpointSettings,
): ClaimedState {
  const planned = new Set(plan.stages.flatMap((stage) => stage.operators.map(({ uid }) => uid)));
  const isClaimed = ({ uid }: OperatorMetadata): boolean => planned.has(uid);
  const lost = metadata.operators
    .filter((operator) => !isClaimed(operator))
    .map((operator) => ({ uid: operator.uid, parts: storedParts(operator) }))
    .filter(({ parts }) => parts.length > 0);
  refuseUnlessAllowed(lost, metadata, settings);
  return {
    metadata: { ...metadata, operators: metadata.operators.filter(isClaimed) },
    unclaimed: lost.map(({ uid, parts }) => `${describeParts(parts)} of ${uid}`),
  };
}

interface Lost {
  readonly uid: string;
  readonly parts: readonly StoredPart[];
}

function refuseUnlessAllowed(
  lost: readonly Lost[],
  { job, checkpointId }: CheckpointMetadata,
  settings: CheckpointSettings,
): void {
  const isRefused = (part: StoredPart): boolean => !settings[permissionFor(part)];
  const refused = lost
    .map(({ uid, parts }) => ({ uid, parts: parts.filter(isRefused) }))
    .filter(({ parts }) => parts.length > 0);
  if (refused.length === 0) return;
  const [what, which] = refused.length === 1 ? ['operator', 'it'] : ['operators', 'them'];
  const has = refused.map(({ uid, parts }) => `${describeParts(parts)} of operator ${uid}`).join(', ');
  const parts = new Set(refused.flatMap((each) => each.parts));
  const permissions = new Set([...parts].map(permissionFor));
  const choices = [...permissions].map((permission) => {
    const left = describeParts([...parts].filter((part) => permissionFor(part) === permission));
    return `set ${permission} to leave ${left} behind${permission === 'allowNonRestoredState' ? '' : ', which loses or repeats records'}`;
  });
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `Checkpoint ${String(checkpointId)} of job ${job} has ${has}, and the job has no such ${what}. ` +
      `Give ${which} the former uid, or ${choices.join(' and ')}.`,
    { recoverable: false },
  );
}
