import type { CheckpointTrigger, JobEvent } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { Watch } from '../../src/simulator/watch.js';

const stored = (id: number, complete = true) => ({ id, pointer: `chk-${String(id)}`, complete });
const committable = (checkpointId: number) => ({
  identity: { job: 'job', lineage: 'l', sink: 'sink', attempt: 1, checkpointId, subtask: 0, sequence: 0 },
  payload: undefined,
});

const completed = (checkpointId: number): JobEvent => ({
  kind: 'checkpoint-completed',
  checkpointId,
  trigger: 'periodic',
  triggeredAt: 0,
  completedAt: 0,
  durationMs: 0,
  stateBytes: 0,
  writtenBytes: 0,
  alignmentMs: 0,
  pointer: '',
  at: 0,
  inFlightRecords: 0,
});

describe('what is watched in a simulation', () => {
  test('is content with the order that is promised', () => {
    const watch = new Watch();
    watch.sees({ kind: 'checkpoint-triggered', checkpointId: 1, trigger: 'periodic', at: 0 });
    watch.publishes(1);
    watch.commits([committable(1)]);
    watch.sees({ kind: 'checkpoint-triggered', checkpointId: 2, trigger: 'periodic', at: 0 });
    watch.publishes(2);
    watch.deletes(stored(1));
    watch.finished();
    watch.deletes(stored(2));
    expect(watch.violations).toEqual([]);
  });

  test('finds a commit before its _metadata', () => {
    const watch = new Watch();
    watch.publishes(1);
    watch.commits([committable(1), committable(2)]);
    expect(watch.violations).toEqual([
      'sink sink committed output of checkpoint 2 when 1 was the newest that is complete',
    ]);
  });

  test('finds a newest checkpoint that is deleted before the job has finished, but lets remains go', () => {
    const watch = new Watch();
    watch.publishes(1);
    watch.deletes(stored(2, false));
    expect(watch.violations).toEqual([]);
    watch.deletes(stored(1));
    expect(watch.violations).toHaveLength(1);
  });

  test('finds ids that do not grow', () => {
    const watch = new Watch();
    watch.sees(completed(2));
    watch.sees(completed(1));
    watch.publishes(2);
    watch.begins();
    watch.sees({ kind: 'checkpoint-triggered', checkpointId: 2, trigger: 'periodic', at: 0 });
    expect(watch.violations).toEqual([
      'checkpoint 1 completed after checkpoint 2',
      'checkpoint 2 was triggered after 2',
    ]);
  });

  const triggered = (checkpointId: number, trigger: CheckpointTrigger): JobEvent => ({
    kind: 'checkpoint-triggered',
    checkpointId,
    trigger,
    at: 0,
  });
  const acked = (checkpointId: number): JobEvent => ({
    kind: 'checkpoint-acked',
    checkpointId,
    subtask: { stage: 'sink', index: 0 },
    stateBytes: 0,
    at: 0,
  });
  const aborted = (checkpointId: number, message: string): JobEvent => ({
    kind: 'checkpoint-aborted',
    checkpointId,
    reason: 'CHECKPOINT_SUBSUMED',
    message,
    counted: false,
    at: 0,
  });

  test('finds a checkpoint that collects answers behind a newer one that is complete, and lets savepoints do so', () => {
    const watch = new Watch();
    for (const [id, trigger] of [
      [1, 'periodic'],
      [2, 'savepoint'],
      [3, 'manual'],
      [4, 'periodic'],
    ] as const)
      watch.sees(triggered(id, trigger));
    watch.sees(acked(1));
    watch.sees(completed(4));
    watch.sees(acked(2));
    expect(watch.violations).toEqual([]);
    watch.sees(acked(3));
    expect(watch.violations).toEqual(['checkpoint 3 is still collected, although 4 is complete']);
  });

  test('finds a savepoint to stop with that waits for a periodic checkpoint', () => {
    const watch = new Watch();
    watch.sees(triggered(1, 'periodic'));
    watch.sees(triggered(2, 'periodic'));
    watch.sees(triggered(3, 'stop'));
    watch.sees(aborted(1, 'no more'));
    watch.sees(acked(1));
    watch.sees(acked(3));
    expect(watch.violations).toEqual([]);
    watch.sees(acked(2));
    expect(watch.violations).toEqual(['the savepoint to stop with, 3, has waited for checkpoint 2']);
  });

  test('finds parts of the engine that contradict each other', () => {
    const watch = new Watch();
    watch.sees(aborted(1, 'PROTOCOL_VIOLATION: a subtask was told twice'));
    expect(watch.violations).toHaveLength(1);
  });
});
