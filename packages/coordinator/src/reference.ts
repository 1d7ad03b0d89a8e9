import {
  WeirError,
  type AttemptNumber,
  type CheckpointId,
  type CheckpointMetadata,
  type JobName,
  type Lineage,
} from '@weir/core/contracts';

/** Tells checkpoints of one job apart, and which of two of one lineage is the later. */
export interface CheckpointIdentity {
  readonly lineage: Lineage;
  readonly attempt: AttemptNumber;
  readonly checkpointId: CheckpointId;
}

/**
 * What lies in a job's own directory in place of `_metadata` for a savepoint that the job falls back to: the savepoint itself is the user's and
 * elsewhere. It is published before anything is committed for the savepoint, so that no process goes back behind that.
 */
export interface SavepointReference extends CheckpointIdentity {
  readonly job: JobName;
  /** Where the savepoint was when it was taken. */
  readonly pointer: string;
}

const FORMAT = 'weir-savepoint-reference';
const VERSION = 1;
const BRACE = 0x7b;

/** JSON, so that a person can read it. */
export function encodeReference(reference: SavepointReference): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ format: FORMAT, version: VERSION, ...reference })}\n`);
}

/** Undefined: these bytes are the metadata of a checkpoint. CHECKPOINT_UNREADABLE if they are neither. */
export function decodeReference(bytes: Uint8Array, place: string): SavepointReference | undefined {
  if (bytes[0] !== BRACE) return undefined;
  const { format, version, job, pointer, lineage, attempt, checkpointId } = parse(bytes);
  if (
    format !== FORMAT ||
    version !== VERSION ||
    typeof job !== 'string' ||
    typeof pointer !== 'string' ||
    typeof lineage !== 'string' ||
    typeof attempt !== 'number' ||
    typeof checkpointId !== 'number'
  ) {
    const message = `The reference to a savepoint at ${place} is damaged, or of another version of weir.`;
    throw new WeirError('CHECKPOINT_UNREADABLE', message, { recoverable: false });
  }
  return { job, pointer, lineage, attempt, checkpointId };
}

export function identityOf({ lineage, attempt, checkpointId }: CheckpointIdentity): CheckpointIdentity {
  return { lineage, attempt, checkpointId };
}

export function isSame(a: CheckpointIdentity, b: CheckpointIdentity): boolean {
  return a.lineage === b.lineage && a.attempt === b.attempt && a.checkpointId === b.checkpointId;
}

/** Whether all that `b` covers is covered by `a`, too. Attempts of one lineage follow each other, and so do the checkpoints of an attempt. */
export function isAtLeast(a: CheckpointIdentity, b: CheckpointIdentity): boolean {
  if (a.lineage !== b.lineage) return false;
  return a.attempt === b.attempt
    ? a.checkpointId >= b.checkpointId
    : a.attempt > b.attempt && a.checkpointId > b.checkpointId;
}

/** The reference to a savepoint with this metadata. */
export function referenceTo(metadata: CheckpointMetadata, pointer: string): SavepointReference {
  return { job: metadata.job, pointer, ...identityOf(metadata) };
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
