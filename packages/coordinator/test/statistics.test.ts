import { NO_METRICS, type CheckpointStats, type Metrics } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';
import { StatisticsRecorder } from '../src/statistics.js';

function statsOf(checkpointId: number, completedAt = 0): CheckpointStats {
  return {
    checkpointId,
    trigger: 'periodic',
    triggeredAt: 0,
    completedAt,
    durationMs: 5,
    stateBytes: 100,
    writtenBytes: 100,
    alignmentMs: 2,
    inFlightRecords: 0,
    pointer: 'p',
  };
}

test('a checkpoint keeps its place in the history from trigger to end', () => {
  const s = new StatisticsRecorder(new VirtualClock(), NO_METRICS, 'orders');
  s.triggered(1, 0, 2);
  s.triggered(2, 0, 2);
  s.acked(1);
  expect(s.read().history).toEqual([
    { outcome: 'in-progress', checkpointId: 1, triggeredAt: 0, acked: 1, expected: 2 },
    { outcome: 'in-progress', checkpointId: 2, triggeredAt: 0, acked: 0, expected: 2 },
  ]);
  s.completed(statsOf(2));
  s.failed(1, 'CHECKPOINT_SUBSUMED', 'gone');
  expect(s.read().history.map((r) => [r.checkpointId, r.outcome])).toEqual([
    [1, 'failed'],
    [2, 'completed'],
  ]);
  expect(s.read().counts).toEqual({ triggered: 2, inProgress: 0, completed: 1, failed: 1, restored: 0 });
});

test('keeps the last ten, and remembers failures that never had an id', () => {
  const s = new StatisticsRecorder(new VirtualClock(), NO_METRICS, 'orders');
  for (let id = 1; id <= 12; id++) {
    s.triggered(id, 0, 1);
    s.completed(statsOf(id));
  }
  s.failed(undefined, 'NOT_ALL_REQUIRED_TASKS_RUNNING', 'no');
  const { history, counts } = s.read();
  expect(history.map((r) => r.checkpointId)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, undefined]);
  expect(counts).toMatchObject({ triggered: 12, failed: 1 });
});

test('OP-02: the age of the last completed checkpoint is there also when none ever completed', async () => {
  const clock = new VirtualClock();
  const s = new StatisticsRecorder(clock, NO_METRICS, 'orders');
  await clock.advance(70);
  expect(s.read().msSinceLastCompleted).toBe(70);
  s.completed(statsOf(1));
  await clock.advance(30);
  s.failed(2, 'CHECKPOINT_EXPIRED', 'slow');
  expect(s.read().msSinceLastCompleted).toBe(30);
  expect(s.read().latestCompleted?.checkpointId).toBe(1);
});

test('remembers what was restored, and when', async () => {
  const clock = new VirtualClock(1000);
  const s = new StatisticsRecorder(clock, NO_METRICS, 'orders');
  s.restored(4);
  await clock.advance(5);
  s.restored(6);
  expect(s.read()).toMatchObject({ counts: { restored: 2 }, latestRestored: { checkpointId: 6, at: 1005 } });
});

test('tells the metrics, and takes its gauges away when closed', async () => {
  const seen: Record<string, number> = {};
  const gauges = new Map<string, () => number>();
  const add = (name: string, n: number): void => {
    seen[name] = (seen[name] ?? 0) + n;
  };
  const metrics: Metrics = {
    counter: (name) => ({ add: (n) => add(name, n) }),
    histogram: (name) => ({ record: (n) => add(name, n) }),
    gauge: (name, read) => {
      gauges.set(name, read);
      return () => gauges.delete(name);
    },
  };
  const clock = new VirtualClock();
  const s = new StatisticsRecorder(clock, metrics, 'orders');
  s.triggered(1, 0, 1);
  await clock.advance(9);
  expect(gauges.get('weir.checkpoint.in_progress')?.()).toBe(1);
  expect(gauges.get('weir.checkpoint.ms_since_last_completed')?.()).toBe(9);
  s.completed(statsOf(1));
  s.triggered(2, 0, 1);
  s.failed(2, 'CHECKPOINT_EXPIRED', 'slow');
  expect(seen).toEqual({
    'weir.checkpoint.triggered': 2,
    'weir.checkpoint.completed': 1,
    'weir.checkpoint.failed': 1,
    'weir.checkpoint.duration_ms': 5,
    'weir.checkpoint.alignment_ms': 2,
    'weir.checkpoint.state_bytes': 100,
  });
  s.close();
  expect(gauges.size).toBe(0);
});
