import {
  type CheckpointId,
  type CheckpointMetadata,
  type OperatorSnapshot,
  type PlanDescription,
  type SubtaskId,
} from '@weir/core/contracts';

// The job of these tests: one source, one transactional sink, one subtask each.

export const SOURCE: SubtaskId = { stage: 'numbers', index: 0 };
export const OUT: SubtaskId = { stage: 'out', index: 0 };

export function planOf(
  options: {
    parallelism?: number;
    maxParallelism?: number;
    isMaxParallelismSet?: boolean;
    sinkGrade?: 'exactly-once' | 'idempotent' | 'at-least-once' | undefined;
  } = {},
): PlanDescription {
  const { parallelism = 1, maxParallelism = 128, isMaxParallelismSet = false } = options;
  const sinkGrade = 'sinkGrade' in options ? options.sinkGrade : 'exactly-once';
  return {
    graphHash: 'hash',
    isMaxParallelismSet,
    edges: [{ from: 'numbers', to: 'out', isPointwise: true }],
    stages: [
      {
        id: 'numbers',
        parallelism,
        maxParallelism,
        isSource: true,
        operators: [{ uid: 'numbers', name: 'numbers', isStateful: true }],
      },
      {
        id: 'out',
        parallelism,
        maxParallelism,
        isSource: false,
        operators: [{ uid: 'out', name: 'out', isStateful: true, sinkGrade }],
      },
    ],
  };
}

const serializer = { id: 'test', version: 1 };

/** The source's position is the id of the checkpoint; the sink holds one committable made for it. */
export function snapshotOf({ stage }: SubtaskId, id: CheckpointId): OperatorSnapshot {
  const blob = { kind: 'inline' as const, bytes: Uint8Array.of(id) };
  return stage === 'numbers'
    ? { uid: 'numbers', keyed: [], operator: [{ name: 'position', mode: 'list', serializer, count: 1, blob }] }
    : {
        uid: 'out',
        keyed: [],
        operator: [],
        committables: { destination: { id: 'place', name: 'place' }, serializer, newest: id, count: 1, blob },
      };
}

export function metadataOf(parts: Partial<CheckpointMetadata> = {}): CheckpointMetadata {
  const { checkpointId = 1 } = parts;
  const ran = { parallelism: 1, maxParallelism: 128, status: 'running' as const, enumerator: undefined };
  const at = (subtask: SubtaskId): CheckpointMetadata['operators'][number]['subtasks'][number] => {
    const { keyed, operator, committables } = snapshotOf(subtask, checkpointId);
    return { index: 0, keyed, operator, committables, channels: [] };
  };
  return {
    job: 'orders',
    lineage: 'first',
    attempt: 1,
    checkpointId,
    kind: 'checkpoint',
    triggeredAt: 0,
    restoredFrom: undefined,
    weirVersion: '0.1.0',
    nodeVersion: '20.0.0',
    selfContained: true,
    graphHash: 'hash',
    operators: [
      { uid: 'numbers', ...ran, subtasks: [at(SOURCE)] },
      { uid: 'out', ...ran, subtasks: [at(OUT)] },
    ],
    ...parts,
  };
}
