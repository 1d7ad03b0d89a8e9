import { describe, expect, test } from 'vitest';
import { Process, deferred, stateOf } from '../harness.js';
import { OUT, SOURCE } from '../plan.js';

// Source tests: CheckpointCoordinatorTriggeringTest and CheckpointCoordinatorTest of Flink, and reports of others.

describe('periodic checkpoints', () => {
  test('testPeriodicTriggering: one per interval with growing ids and times, none between attempts, and the ids go on', async () => {
    const p = new Process({ settings: { intervalMs: 10, maxConcurrent: 1000 } });
    const first = await p.launch();
    await p.clock.until(() => first.barriers.length === 5);
    await p.coordinator.attemptEnded(first.attempt);
    await p.clock.advance(100);
    expect(first.triggered).toEqual([1, 2, 3, 4, 5]);

    const second = await p.run();
    await p.clock.until(() => second.barriers.length === 5);
    expect(second.triggered).toEqual([6, 7, 8, 9, 10]);
    for (const { barriers } of [first, second]) {
      const times = barriers.map((b) => b.timestamp);
      expect(times.map((t, i) => t - (times[i - 1] ?? t))).toEqual([0, 10, 10, 10, 10]);
    }
  });

  test('testPeriodicSchedulingWithInactiveTasks: nothing is triggered before all subtasks run', async () => {
    const p = new Process({ settings: { intervalMs: 10 } });
    await p.start();
    const { attempt } = await p.coordinator.beginAttempt();
    await p.clock.advance(100);
    expect(p.told('checkpoint-triggered')).toEqual([]);
    await p.coordinator.attemptEnded(attempt);
    const gateway = await p.run();
    await p.clock.advance(20);
    expect(gateway.triggered).toEqual([1]);
  });

  test('testMinCheckpointPause: the next one starts no sooner than the pause after the end of the last', async () => {
    const p = new Process({ settings: { intervalMs: 10, minPauseMs: 100 } });
    const gateway = await p.launch();
    await p.clock.until(() => gateway.triggered.length === 1);
    await p.clock.advance(37);
    gateway.ackAll(1);
    await p.clock.settle();
    const completedAt = p.clock.now();
    await p.clock.advance(50);
    expect(gateway.triggered).toEqual([1]);
    await p.clock.until(() => gateway.triggered.length === 2);
    expect(p.clock.now() - completedAt).toBe(100);
  });

  test('CO-01: start(n+1) - end(n) is at least the pause for every n, however many ticks wait', async () => {
    const p = new Process({ settings: { intervalMs: 50, minPauseMs: 1000 } });
    const gateway = await p.launch();
    // Slower than the interval, so that ticks are waiting when one completes.
    gateway.onTrigger = (id) => p.clock.timer(id % 2 === 0 ? 80 : 2500, () => gateway.ackAll(id));
    await p.clock.until(() => p.told('checkpoint-completed').length === 6);
    const done = p.told('checkpoint-completed');
    const gaps = done.slice(1).map((c, i) => c.triggeredAt - (done[i]?.completedAt ?? 0));
    expect(gaps).toHaveLength(5);
    for (const gap of gaps) expect(gap).toBe(1000);
  });

  test.each(['declined', 'expired'] as const)('the pause is kept behind a checkpoint that is %s, too', async (fate) => {
    const settings = { intervalMs: 10, minPauseMs: 100, tolerableFailures: 9, timeoutMs: 150 };
    const p = new Process({ settings });
    const gateway = await p.launch();
    await p.clock.until(() => gateway.triggered.length === 1);
    // A tick of the fixed rate waits meanwhile.
    await p.clock.advance(105);
    if (fate === 'declined') gateway.decline(1, OUT);
    else await p.clock.advance(45);
    await p.clock.advance(99);
    expect(gateway.triggered).toEqual([1]);
    await p.clock.advance(1);
    expect(gateway.triggered).toEqual([1, 2]);
  });

  test('as many ticks as come while a checkpoint takes its time are one checkpoint', async () => {
    const p = new Process({ settings: { intervalMs: 10 } });
    const gateway = await p.launch();
    await p.clock.until(() => gateway.triggered.length === 1);
    await p.clock.advance(505);
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    gateway.ackAll(1);
    await p.clock.settle();
    expect(gateway.triggered).toEqual([1, 2]);
  });

  test('what the schedule asked for in vain is not told as a failed checkpoint', async () => {
    const p = new Process({ settings: { intervalMs: 10, minPauseMs: 100 } });
    const gateway = await p.launch();
    gateway.onTrigger = (id) => p.clock.timer(30, () => gateway.ackAll(id));
    await p.clock.until(() => gateway.triggered.length === 4);
    expect(p.told('checkpoint-aborted')).toEqual([]);
    expect(p.coordinator.statistics().counts.failed).toBe(0);
  });
});

describe('manual checkpoints', () => {
  test('CO-03: one right after a completion is not held back by the pause, and the schedule goes on after it', async () => {
    const p = new Process({ settings: { intervalMs: 500, minPauseMs: 5000 } });
    const gateway = await p.launch();
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    await p.clock.until(() => p.told('checkpoint-completed').length === 1);
    const before = p.clock.now();
    const stats = await p.coordinator.triggerCheckpoint();
    expect(stats).toMatchObject({ checkpointId: 2, trigger: 'manual' });
    expect(p.clock.now()).toBe(before);
    await p.clock.until(() => p.told('checkpoint-completed').length === 4);
    expect(p.told('checkpoint-completed').map((c) => [c.checkpointId, c.trigger])).toEqual([
      [1, 'periodic'],
      [2, 'manual'],
      [3, 'periodic'],
      [4, 'periodic'],
    ]);
  });

  test('testBaseLocationsNotInitialized: without an interval nothing is written before the first manual one', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.clock.advance(1e7);
    expect(p.disk.folders.size).toBe(0);
    expect(p.clock.pendingTimers).toBe(0);
    expect(await p.checkpoint(gateway)).toBe(1);
  });

  test('testTriggerCheckpointBeforePreviousOneCompleted: the second waits while the first is set up, then both run', async () => {
    const p = new Process({ settings: { maxConcurrent: 1000 } });
    const gateway = await p.launch();
    const enumerating = deferred();
    gateway.enumerate = async () => {
      await enumerating.promise;
      return [];
    };
    void p.coordinator.triggerCheckpoint();
    void p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    expect(gateway.log).toEqual(['enumerators 1']);
    enumerating.resolve();
    await p.clock.settle();
    expect(gateway.log).toEqual(['enumerators 1', 'trigger 1', 'enumerators 2', 'trigger 2']);
  });

  test('testMinDelayBetweenSavepoints: a huge pause lets two in a row through', async () => {
    const p = new Process({ settings: { intervalMs: 10, minPauseMs: 1e8 } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    await p.checkpoint(gateway);
    expect(p.disk.complete).toEqual([2]);
  });

  test('while no attempt runs it is refused, without using up an id, and remembered as a failure', async () => {
    const p = new Process();
    await p.start();
    await expect(p.coordinator.triggerCheckpoint()).rejects.toMatchObject({
      code: 'CHECKPOINT_FAILED',
      message: expect.stringContaining('NOT_ALL_REQUIRED_TASKS_RUNNING'),
    });
    expect(p.coordinator.statistics().history).toMatchObject([
      { outcome: 'failed', checkpointId: undefined, reason: 'NOT_ALL_REQUIRED_TASKS_RUNNING' },
    ]);
    expect(p.told('checkpoint-aborted')).toMatchObject([{ checkpointId: undefined, counted: false }]);
    expect(await p.checkpoint(await p.run())).toBe(1);
  });

  test('after the end of the job it is refused with CHECKPOINT_COORDINATOR_SHUTDOWN', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.coordinator.attemptEnded(gateway.attempt);
    await p.coordinator.end('suspended');
    await expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_COORDINATOR_SHUTDOWN');
  });
});

describe('how many at once', () => {
  test('testMaxConcurrentAttempts: no more than the limit are pending, and each end lets the next one start', async () => {
    const p = new Process({ settings: { intervalMs: 10, maxConcurrent: 2 } });
    const gateway = await p.launch();
    await p.clock.advance(200);
    expect(gateway.triggered).toEqual([1, 2]);
    gateway.ackAll(1);
    await p.clock.settle();
    expect(gateway.triggered).toEqual([1, 2, 3]);
  });

  test('testMaxConcurrentAttemptsWithSubsumption: completing the second of two subsumes the first, and the one that waits starts', async () => {
    const p = new Process({ settings: { intervalMs: 10, maxConcurrent: 2 } });
    const gateway = await p.launch();
    await p.clock.advance(100);
    gateway.ackAll(2);
    await p.clock.settle();
    expect(p.told('checkpoint-aborted')).toMatchObject([
      { checkpointId: 1, reason: 'CHECKPOINT_SUBSUMED', counted: false },
    ]);
    expect(gateway.triggered).toEqual([1, 2, 3]);
    expect(p.disk.complete).toEqual([2]);
  });

  test('ME-04: storage that is slower than the interval never has more than the limit in memory', async () => {
    const p = new Process({ settings: { intervalMs: 50, tolerableFailures: Infinity, timeoutMs: 400 } });
    const gateway = await p.launch();
    gateway.onTrigger = (id) => p.clock.timer(id % 3 === 0 ? 1000 : 300, () => gateway.ackAll(id));
    let most = 0;
    for (let i = 0; i < 500; i++) {
      await p.clock.advance(10);
      most = Math.max(most, p.coordinator.statistics().counts.inProgress);
    }
    expect(most).toBe(1);
    expect(p.coordinator.statistics().counts.completed).toBeGreaterThan(5);
    // One pending, one complete; nothing is left of those that expired.
    expect(p.disk.folders.size).toBeLessThanOrEqual(3);
  });

  test('a sink that never commits holds back no checkpoint; no more than two old ones are kept for it', async () => {
    const p = new Process({ settings: { intervalMs: 10 } });
    const gateway = await p.launch();
    const commits = deferred();
    gateway.commit = () => commits.promise;
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    await p.clock.advance(500);
    expect(gateway.triggered).toHaveLength(50);
    expect(p.disk.complete).toEqual([48, 49, 50]);
    commits.resolve();
    await p.clock.settle();
    expect(p.disk.complete).toEqual([50]);
  });

  test('that output stays uncommitted is said, once in each timeout', async () => {
    const p = new Process({ settings: { intervalMs: 10, timeoutMs: 500 } });
    const gateway = await p.launch();
    gateway.commit = () => new Promise(() => undefined);
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    await p.clock.advance(1700);
    expect(p.warnings).toHaveLength(3);
    expect(p.warnings[0]).toMatch(/Output of checkpoint 1 .* not been committed for 500 ms/);
    await p.coordinator.end('failed');
    expect(p.clock.pendingTimers).toBe(0);
  });
});

describe('setting up', () => {
  test('location, then enumerators, then barriers; the barrier carries id and time of triggering', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.clock.advance(123);
    p.storage.intercept = (step, when) => {
      if (when === 'after') gateway.log.push(step);
    };
    void p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    expect(gateway.log).toEqual(['create 1', 'enumerators 1', 'trigger 1']);
    expect(gateway.barriers).toEqual([{ kind: 'barrier', checkpointId: 1, timestamp: 123, snapshot: 'checkpoint' }]);
  });

  test.each([0, 30_000])(
    'barriers of unaligned checkpoints say when they overtake: after %d ms',
    async (alignedTimeoutMs) => {
      const p = new Process({ settings: { unaligned: true, alignedTimeoutMs } });
      const gateway = await p.launch();
      void p.coordinator.triggerCheckpoint();
      await p.clock.settle();
      expect(gateway.barriers).toEqual([
        expect.objectContaining({ checkpointId: 1, overtakesAfter: alignedTimeoutMs }),
      ]);
    },
  );

  test('subtasks may answer while the barriers are being sent', async () => {
    const p = new Process();
    const gateway = await p.launch();
    gateway.onTrigger = (id) => {
      gateway.ackAll(id);
    };
    await expect(p.coordinator.triggerCheckpoint()).resolves.toMatchObject({ checkpointId: 1 });
  });

  test('testTriggerCheckpointRequestCancelled: a timeout during set-up tells the caller, and no barrier is ever sent', async () => {
    const p = new Process({ settings: { timeoutMs: 100, tolerableFailures: 9 } });
    const gateway = await p.launch();
    const enumerating = deferred();
    gateway.enumerate = async () => {
      await enumerating.promise;
      return [];
    };
    const asked = p.coordinator.triggerCheckpoint();
    const refused = expect(asked).rejects.toThrow('CHECKPOINT_EXPIRED');
    await p.clock.advance(100);
    await refused;
    enumerating.resolve();
    await p.clock.settle();
    expect(gateway.log).toEqual(['enumerators 1', 'aborted 1 after 0']);
    expect(p.disk.folders.size).toBe(0);
  });

  test('testTimeoutWhileCheckpointOperatorCoordinatorNotFinishing: enumerators that never answer do not stand in the way of the next', async () => {
    const p = new Process({ settings: { timeoutMs: 100, tolerableFailures: 9 } });
    const gateway = await p.launch();
    gateway.enumerate = () => new Promise(() => undefined);
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.advance(100);
    gateway.enumerate = async () => [];
    expect(await p.checkpoint(gateway)).toBe(2);
  });

  test('a location that comes only after the timeout is discarded', async () => {
    const p = new Process({ settings: { timeoutMs: 100, tolerableFailures: 9 } });
    const gateway = await p.launch();
    const creating = deferred();
    p.storage.intercept = (step, when) => (step === 'create 1' && when === 'after' ? creating.promise : undefined);
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.advance(100);
    expect(p.disk.incomplete).toEqual([1]);
    creating.resolve();
    await p.clock.settle();
    expect(p.disk.folders.size).toBe(0);
    expect(gateway.log).toEqual(['aborted 1 after 0']);
  });

  test('testTriggerCheckpointSnapshotMasterHookFailed: enumerators that fail abort it uncounted, no barrier is sent, and held-back splits are released', async () => {
    const p = new Process();
    const gateway = await p.launch();
    gateway.enumerate = () => Promise.reject(new TypeError('no state'));
    await expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('TRIGGER_CHECKPOINT_FAILURE');
    await p.clock.settle();
    expect(gateway.log).toEqual(['enumerators 1', 'aborted 1 after 0']);
    expect(p.failures).toEqual([]);
    expect(p.disk.folders.size).toBe(0);
  });

  test('barriers that cannot be sent abort it, so that whoever got one is told', async () => {
    const p = new Process();
    const gateway = await p.launch();
    gateway.onTrigger = () => {
      throw new Error('no such subtask');
    };
    await expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('TRIGGER_CHECKPOINT_FAILURE');
    expect(gateway.log).toEqual(['enumerators 1', 'trigger 1', 'aborted 1 after 0']);
  });

  test('testTriggerCheckpointWithCounterIOException: an I/O error before any subtask was asked is IO_EXCEPTION, and counts', async () => {
    const p = new Process();
    const gateway = await p.launch();
    p.storage.intercept = (step) => {
      if (step.startsWith('create'))
        throw new Error('outer', { cause: Object.assign(new Error('ENOSPC'), { syscall: 'mkdir' }) });
    };
    await expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('IO_EXCEPTION');
    expect(p.failures).toMatchObject([{ attempt: 1, error: { code: 'CHECKPOINT_TOLERANCE_EXCEEDED' } }]);
    expect(p.coordinator.statistics().counts).toMatchObject({ failed: 1, inProgress: 0 });
    expect(gateway.log).toEqual(['aborted 1 after 0']);
  });

  test('testTriggerCheckpointWithShuttingDownCoordinator: one that is being set up ends with the job', async () => {
    const p = new Process();
    const gateway = await p.launch();
    gateway.enumerate = () => new Promise(() => undefined);
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_COORDINATOR_SHUTDOWN');
    const queued = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_COORDINATOR_SHUTDOWN');
    await p.clock.settle();
    await p.coordinator.end('failed');
    await asked;
    await queued;
  });
});

test('the timeout counts set-up and collecting, but not the time in the queue', async () => {
  const p = new Process({ settings: { timeoutMs: 100, tolerableFailures: 9 } });
  const gateway = await p.launch();
  const first = p.coordinator.triggerCheckpoint();
  const second = p.coordinator.triggerCheckpoint();
  await p.clock.advance(90);
  gateway.ackAll(1);
  await first;
  await p.clock.advance(90);
  expect(await stateOf(second)).toBe('pending');
  gateway.ack(2, SOURCE);
  gateway.ack(2, OUT);
  await expect(second).resolves.toMatchObject({ checkpointId: 2, durationMs: 90 });
  await p.clock.settle();
  expect(p.clock.pendingTimers).toBe(0);
});
