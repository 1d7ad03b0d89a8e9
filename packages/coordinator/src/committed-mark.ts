import {
  decodeRecord,
  encodeRecord,
  identityOf,
  isSame,
  type CheckpointIdentity,
  type CheckpointMetadata,
  type JobStorage,
  type StoredCheckpoint,
} from '@weir/core/contracts';

const FORMAT = 'weir-committed';
const VERSION = 2;

/** What `_committed` says beside the `_metadata` of a checkpoint: all output that it covers is committed. JSON, so that a person can read it. */
export function encodeCommitted(metadata: CheckpointMetadata, committedAt: number): Uint8Array {
  return encodeRecord(FORMAT, VERSION, { job: metadata.job, ...identityOf(metadata), committedAt });
}

/**
 * Whether nothing of the checkpoint is left to commit. A mark that is damaged, or another checkpoint's, says nothing: its output is then committed
 * once more, which changes nothing where it was.
 */
export async function isCommitted(
  metadata: CheckpointMetadata,
  stored: StoredCheckpoint,
  storage: JobStorage,
): Promise<boolean> {
  const bytes = await storage.readCommitted(stored);
  if (bytes === undefined) return false;
  const { fields } = decodeRecord(bytes, FORMAT, VERSION);
  // The fields of an identity are compared one by one, whatever they are.
  return fields !== undefined && isSame(fields as unknown as CheckpointIdentity, metadata);
}

/** The same checkpoint once nothing of it is left to commit. */
export function withoutCommittables(metadata: CheckpointMetadata): CheckpointMetadata {
  const operators = metadata.operators.map((operator) => {
    const rest = operator.subtasks.map((subtask) => ({ ...subtask, committables: undefined }));
    const subtasks = rest.filter((s) => s.keyed.length + s.operator.length + s.channels.length > 0);
    return { ...operator, subtasks };
  });
  return { ...metadata, operators };
}

export function holdsCommittables({ operators }: CheckpointMetadata): boolean {
  return operators.some(({ subtasks }) => subtasks.some(({ committables }) => committables !== undefined));
}
