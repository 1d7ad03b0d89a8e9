import type { ChannelStateHandle } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { Process } from '../harness.js';
import { OUT, SOURCE } from '../plan.js';

// Source tests: CheckpointCoordinatorTest and CheckpointCoordinatorFailureTest of Flink, and reports of others.

describe('acknowledgements', () => {
  test('CO-11: a checkpoint is complete only when everybody that was asked has answered', async () => {
    const p = new Process();
    const gateway = await p.launch();
    void p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ack(1, SOURCE);
    await p.clock.settle();
    expect(p.disk.complete).toEqual([]);
    // Killed now: the next process starts from the beginning, and never uses the id again.
    p.storage.die();
    const next = new Process({ disk: p.disk });
    expect(await next.start()).toMatchObject({ kind: 'fresh' });
    expect(await next.checkpoint(await next.run())).toBe(2);
  });

  test('testStateCleanupForLateOrUnknownMessages: duplicates and strangers change nothing', async () => {
    const p = new Process();
    const gateway = await p.launch();
    void p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ack(1, OUT);
    gateway.ack(1, OUT);
    p.coordinator.receive(gateway.ackOf(1, { stage: 'stranger', index: 0 }));
    p.coordinator.receive(gateway.ackOf(99, SOURCE));
    await p.clock.settle();
    expect(p.disk.complete).toEqual([]);
    expect(p.told('checkpoint-acked')).toHaveLength(1);
    gateway.ack(1, SOURCE);
    await p.clock.settle();
    expect(p.disk.complete).toEqual([1]);
  });

  test('testStateCleanupForLateOrUnknownMessages: after a decline what was acknowledged is removed, and what comes late writes nothing', async () => {
    const p = new Process({ settings: { tolerableFailures: 1 } });
    const gateway = await p.launch();
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    gateway.ack(1, SOURCE);
    expect(p.disk.folders.get(1)?.files.size).toBe(1);
    gateway.decline(1, OUT);
    await p.clock.settle();
    expect(p.disk.folders.size).toBe(0);
    gateway.ack(1, OUT);
    await p.clock.settle();
    expect(p.disk.folders.size).toBe(0);
    expect(p.told('checkpoint-completed')).toEqual([]);
  });

  test('CO-07: reports of an old attempt are dropped', async () => {
    const p = new Process();
    const first = await p.launch();
    void p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    await p.coordinator.attemptEnded(first.attempt);
    const second = await p.run();
    const asked = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    expect(second.triggered).toEqual([2]);
    first.decline(2, SOURCE, 'CHECKPOINT_ASYNC_EXCEPTION');
    first.ackAll(2);
    await p.clock.settle();
    expect(p.failures).toEqual([]);
    expect(p.disk.complete).toEqual([]);
    second.ackAll(2);
    await expect(asked).resolves.toMatchObject({ checkpointId: 2 });
  });

  test('statistics show who has answered so far', async () => {
    const p = new Process();
    const gateway = await p.launch();
    void p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ack(1, SOURCE);
    expect(p.coordinator.statistics().history).toMatchObject([
      { outcome: 'in-progress', checkpointId: 1, acked: 1, expected: 2 },
    ]);
    gateway.ack(1, OUT);
    await p.clock.settle();
    const { history, latestCompleted } = p.coordinator.statistics();
    expect(history).toEqual([{ outcome: 'completed', ...latestCompleted }]);
    expect(latestCompleted).toMatchObject({ stateBytes: 20, alignmentMs: 1, pointer: 'disk/chk-1' });
  });

  test('statistics count the records that barriers have overtaken', async () => {
    const p = new Process();
    const gateway = await p.launch();
    void p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    const channel = (count: number): ChannelStateHandle => ({
      kind: 'input',
      edge: { producer: 'numbers', output: 0, consumer: 'out', input: 0 },
      fromSubtask: 0,
      toSubtask: 0,
      serializer: { id: 'test', version: 1 },
      timed: false,
      count,
      blob: { kind: 'inline', bytes: new Uint8Array() },
    });
    const operators = [{ uid: 'out', keyed: [], operator: [], channels: [channel(3), channel(4)] }];
    gateway.ack(1, SOURCE);
    gateway.ack(1, OUT, { snapshot: { subtask: OUT, operators } });
    await p.clock.settle();
    expect(p.coordinator.statistics().latestCompleted).toMatchObject({ inFlightRecords: 7 });
  });
});

describe('declines', () => {
  test('testTriggerAndDeclineSync/AsyncCheckpointFailureSimple: one decline aborts the checkpoint, once, and leaves nothing behind', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow(/CHECKPOINT_DECLINED.*no/);
    await p.clock.settle();
    gateway.ack(1, OUT);
    gateway.decline(1, SOURCE);
    gateway.decline(1, SOURCE);
    gateway.decline(1, OUT);
    await asked;
    await p.clock.settle();
    expect(p.failures).toHaveLength(1);
    expect(p.failures).toMatchObject([
      { attempt: 1, error: { code: 'CHECKPOINT_TOLERANCE_EXCEEDED', recoverable: true } },
    ]);
    expect(p.told('checkpoint-aborted')).toMatchObject([
      { checkpointId: 1, reason: 'CHECKPOINT_DECLINED', counted: true },
    ]);
    expect(gateway.log).toContain('aborted 1 after 0');
    expect(p.clock.pendingTimers).toBe(0);
    expect(p.disk.folders.size).toBe(0);
    expect(p.coordinator.statistics().counts).toMatchObject({ inProgress: 0, failed: 1 });
  });

  test('testTriggerAndDeclineCheckpointThenFailureManagerThrowsException: even then it is cleaned up', async () => {
    const p = new Process();
    const gateway = await p.launch();
    p.onFailure = () => {
      throw new Error('the engine is confused');
    };
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_DECLINED');
    await p.clock.settle();
    expect(() => {
      gateway.decline(1, SOURCE);
    }).toThrow('the engine is confused');
    await asked;
    await p.clock.settle();
    expect(p.disk.folders.size).toBe(0);
    expect(p.clock.pendingTimers).toBe(0);
    p.onFailure = () => undefined;
    expect(await p.checkpoint(gateway)).toBe(2);
  });

  test('testTriggerAndDeclineCheckpointComplex: another pending checkpoint is not touched by it', async () => {
    const p = new Process({ settings: { maxConcurrent: 2, tolerableFailures: 1 } });
    const gateway = await p.launch();
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    const second = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.decline(1, OUT);
    gateway.ackAll(2);
    await expect(second).resolves.toMatchObject({ checkpointId: 2 });
  });

  test('a success in between ends the row of failures', async () => {
    const p = new Process({ settings: { tolerableFailures: 1 } });
    const gateway = await p.launch();
    for (const id of [1, 3]) {
      p.coordinator.triggerCheckpoint().catch(() => undefined);
      await p.clock.settle();
      gateway.decline(id, OUT);
      await p.clock.settle();
      expect(await p.checkpoint(gateway)).toBe(id + 1);
    }
    expect(p.failures).toEqual([]);
  });

  test('the next in the queue starts at once, also while the files of the declined one are still being removed', async () => {
    const p = new Process({ settings: { tolerableFailures: 1 } });
    const gateway = await p.launch();
    p.storage.intercept = (step) => (step === 'discard 1' ? new Promise(() => undefined) : undefined);
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    const second = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.decline(1, OUT);
    await p.clock.settle();
    expect(gateway.triggered).toEqual([1, 2]);
    gateway.ackAll(2);
    await expect(second).resolves.toMatchObject({ checkpointId: 2 });
  });

  test('a reason that does not count leaves the attempt alone', async () => {
    const p = new Process();
    const gateway = await p.launch();
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    gateway.decline(1, OUT, 'CHECKPOINT_DECLINED_INPUT_END_OF_STREAM');
    expect(p.told('checkpoint-aborted')).toMatchObject([{ counted: false }]);
    expect(p.failures).toEqual([]);
  });

  test('testReportLatestCompletedCheckpointIdWithAbort: subtasks hear which one completed last', async () => {
    const p = new Process({ settings: { tolerableFailures: 1 } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    gateway.decline(2, OUT);
    expect(gateway.log.at(-1)).toBe('aborted 2 after 1');
  });
});

describe('timeouts', () => {
  test('testCheckpointTimeoutIsolated: half acknowledged, it is aborted, its files go, nobody is told it completed', async () => {
    const p = new Process({ settings: { timeoutMs: 200, tolerableFailures: 1 } });
    const gateway = await p.launch();
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_EXPIRED');
    await p.clock.settle();
    gateway.ack(1, SOURCE);
    await p.clock.advance(199);
    expect(p.disk.incomplete).toEqual([1]);
    await p.clock.advance(1);
    await asked;
    expect(p.disk.folders.size).toBe(0);
    gateway.ack(1, OUT);
    await p.clock.settle();
    expect(gateway.log).toEqual(['enumerators 1', 'trigger 1', 'aborted 1 after 0']);
  });

  test('CO-05: the third timeout in a row with two tolerable fails the attempt, and what comes late is dropped', async () => {
    const p = new Process({ settings: { intervalMs: 300, timeoutMs: 200, tolerableFailures: 2 } });
    const gateway = await p.launch();
    gateway.onTrigger = (id) => p.clock.timer(1000, () => gateway.ackAll(id));
    await p.clock.until(() => p.failures.length > 0);
    expect(p.failures).toMatchObject([
      { error: { code: 'CHECKPOINT_TOLERANCE_EXCEEDED', message: expect.stringContaining('CHECKPOINT_EXPIRED') } },
    ]);
    expect(p.coordinator.statistics().counts).toMatchObject({ triggered: 3, failed: 3, completed: 0 });
    await p.clock.advance(250);
    expect(p.coordinator.statistics().counts.completed).toBe(0);
  });
});

test('SG-10: when one subtask fails to write, the parts of the others go, and the next checkpoint is whole', async () => {
  const p = new Process({ settings: { intervalMs: 50, tolerableFailures: 99 } });
  const gateway = await p.launch();
  gateway.onTrigger = (id) =>
    queueMicrotask(() => {
      gateway.ack(id, SOURCE);
      if (id % 2 === 0) gateway.decline(id, OUT, 'CHECKPOINT_ASYNC_EXCEPTION');
      else gateway.ack(id, OUT);
    });
  await p.clock.until(() => gateway.triggered.length === 8);
  await p.clock.settle();
  expect(p.coordinator.statistics().counts).toMatchObject({ completed: 4, failed: 4 });
  expect([...p.disk.folders.keys()]).toEqual([7]);
});
