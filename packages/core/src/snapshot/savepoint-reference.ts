import type { CheckpointMetadata } from '../contracts/metadata.js';
import type { AttemptNumber, CheckpointId, JobName, Lineage } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { decodeRecord, encodeRecord, isCount } from './json-record.js';

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
const VERSION = 2;
const BRACE = 0x7b;

export function encodeReference(reference: SavepointReference): Uint8Array {
  return encodeRecord(FORMAT, VERSION, reference);
}

/** Undefined: these bytes are the metadata of a checkpoint. CHECKPOINT_UNREADABLE if they are neither. */
export function decodeReference(bytes: Uint8Array, place: string): SavepointReference | undefined {
  if (bytes[0] !== BRACE) return undefined;
  const { fields, fault } = decodeRecord(bytes, FORMAT, VERSION);
  const { job, pointer, lineage, attempt, checkpointId } = fields ?? {};
  if (
    typeof job === 'string' &&
    typeof pointer === 'string' &&
    typeof lineage === 'string' &&
    isCount(attempt) &&
    isCount(checkpointId)
  )
    return { job, pointer, lineage, attempt, checkpointId };
  const message = `The reference to a savepoint at ${place} ${fault ?? 'makes no sense'}.`;
  throw new WeirError('CHECKPOINT_UNREADABLE', message, { recoverable: false });
}

export function identityOf({ lineage, attempt, checkpointId }: CheckpointIdentity): CheckpointIdentity {
  return { lineage, attempt, checkpointId };
}

export function isSame(a: CheckpointIdentity, b: CheckpointIdentity): boolean {
  return a.lineage === b.lineage && a.attempt === b.attempt && a.checkpointId === b.checkpointId;
}

/** The reference to a savepoint with this metadata. */
export function referenceTo(metadata: CheckpointMetadata, pointer: string): SavepointReference {
  return { job: metadata.job, pointer, ...identityOf(metadata) };
}
