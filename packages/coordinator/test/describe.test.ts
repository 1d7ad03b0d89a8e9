import type { Acknowledgement } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { describeCheckpoint } from '../src/describe.js';
import { PendingCheckpoint } from '../src/pending-checkpoint.js';
import { Process } from './harness.js';
import { planOf, snapshotOf } from './plan.js';

const RUN = { lineage: 'l', attempt: 1, restoredFrom: undefined, keptForUser: [], plan: planOf({ parallelism: 2 }) };
const SUBTASKS = ['numbers', 'out'].flatMap((stage) => [0, 1].map((index) => ({ stage, index })));

function acknowledged(order: readonly number[]): PendingCheckpoint {
  const pending = new PendingCheckpoint({ id: 4, trigger: 'manual', triggeredAt: 9, startedAt: 0, subtasks: SUBTASKS });
  pending.phase = 'collecting';
  for (const i of order) {
    const subtask = SUBTASKS[i]!;
    // The second subtask of the sink has nothing to store.
    const operators = i === 3 ? [] : [snapshotOf(subtask, 4)];
    const measured = { stateBytes: 0, writtenBytes: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 };
    const ack: Acknowledgement = {
      kind: 'ack',
      attempt: 1,
      subtask,
      checkpointId: 4,
      snapshot: { subtask, operators },
      ...measured,
    };
    pending.acknowledge(ack);
  }
  return pending;
}

test('lists every operator of the plan, its subtasks by index, whoever answered first', () => {
  const { context } = new Process({ plan: planOf({ parallelism: 2 }) });
  const metadata = describeCheckpoint(context, acknowledged([3, 1, 2, 0]), RUN);
  expect(metadata.operators.map((o) => [o.uid, o.parallelism, o.subtasks.map((s) => s.index)])).toEqual([
    ['numbers', 2, [0, 1]],
    ['out', 2, [0]],
  ]);
  expect(metadata).toEqual(describeCheckpoint(context, acknowledged([0, 1, 2, 3]), RUN));
  expect(metadata).toMatchObject({ checkpointId: 4, triggeredAt: 9, lineage: 'l' });
});

test('an enumerator of nobody is refused rather than lost', () => {
  const { context } = new Process({ plan: planOf({ parallelism: 2 }) });
  const pending = acknowledged([0, 1, 2, 3]);
  pending.enumerators = [{ uid: 'ghost', serializer: { id: 's', version: 1 }, bytes: new Uint8Array() }];
  expect(() => describeCheckpoint(context, pending, RUN)).toThrow(/operator ghost, which is not in the plan/);
});
