import type { Acknowledgement, SubtaskId } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { PendingCheckpoint } from '../src/pending-checkpoint.js';

const T1: SubtaskId = { stage: 'a', index: 0 };
const T2: SubtaskId = { stage: 'a', index: 1 };

function pending(): PendingCheckpoint {
  const p = new PendingCheckpoint({ id: 7, trigger: 'manual', triggeredAt: 0, startedAt: 0, subtasks: [T1, T2] });
  p.phase = 'collecting';
  return p;
}
function ackOf(subtask: SubtaskId): Acknowledgement {
  const snapshot = { subtask, operators: [] };
  return {
    kind: 'ack',
    attempt: 1,
    subtask,
    checkpointId: 7,
    snapshot,
    stateBytes: 0,
    writtenBytes: 0,
    alignmentMs: 0,
    syncMs: 0,
    asyncMs: 0,
  };
}

test('is fully acknowledged once everybody has answered, also with nothing to store', () => {
  const p = pending();
  expect(p.acknowledge(ackOf(T1))).toBe('accepted');
  expect(p.isFullyAcknowledged).toBe(false);
  expect(p.acknowledge(ackOf(T2))).toBe('accepted');
  expect(p.isFullyAcknowledged).toBe(true);
  expect(p.expected).toBe(2);
});

test('the same subtask a second time is a duplicate, and the first answer stays', () => {
  const p = pending();
  const first = ackOf(T1);
  p.acknowledge(first);
  expect(p.acknowledge(ackOf(T1))).toBe('duplicate');
  expect(p.acks).toEqual([first]);
  expect(p.acks[0]).toBe(first);
});

test('a subtask that is not part of it is unknown', () => {
  const p = pending();
  expect(p.acknowledge(ackOf({ stage: 'b', index: 0 }))).toBe('unknown');
  expect(p.acks).toEqual([]);
});

test('after its end every answer is late', () => {
  const p = pending();
  p.acknowledge(ackOf(T1));
  p.phase = 'aborted';
  expect(p.acknowledge(ackOf(T2))).toBe('late');
  expect(p.isFullyAcknowledged).toBe(false);
});

test('is not fully acknowledged before its barriers were sent, however few have to answer', () => {
  const p = new PendingCheckpoint({ id: 1, trigger: 'manual', triggeredAt: 0, startedAt: 0, subtasks: [] });
  expect(p.isFullyAcknowledged).toBe(false);
});
