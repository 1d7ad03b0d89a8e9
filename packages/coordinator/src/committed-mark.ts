import type { CheckpointMetadata, JobStorage, StoredCheckpoint } from '@weir/core/contracts';
import { identityOf, isSame, type CheckpointIdentity } from './reference.js';

const FORMAT = 'weir-committed';
const VERSION = 1;

/** What `_committed` says beside the `_metadata` of a checkpoint: all output that it covers is committed. JSON, so that a person can read it. */
export function encodeCommitted(metadata: CheckpointMetadata, committedAt: number): Uint8Array {
  const mark = { format: FORMAT, version: VERSION, job: metadata.job, ...identityOf(metadata), committedAt };
  return new TextEncoder().encode(`${JSON.stringify(mark)}\n`);
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
  const { format, version, ...identity } = parse(bytes);
  // The fields of an identity are compared one by one, whatever they are.
  return format === FORMAT && version === VERSION && isSame(identity as unknown as CheckpointIdentity, metadata);
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

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
