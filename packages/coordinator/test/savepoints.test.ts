import { WeirError, decodeMetadata } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { Process, deferred, stateOf } from './harness.js';
import { OUT, SOURCE } from './plan.js';

describe('a savepoint', () => {
  test('testTriggerAndConfirmSimpleSavepoint: is no checkpoint of the job, and nobody is told to commit', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    gateway.log.length = 0;
    const asked = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    gateway.ack(2, OUT);
    gateway.ack(2, OUT);
    expect(await stateOf(asked)).toBe('pending');
    gateway.ack(2, SOURCE);
    const { pointer, checkpointId, trigger } = await asked;
    await p.clock.settle();
    expect({ pointer, checkpointId, trigger }).toEqual({
      pointer: 'savepoints/savepoint-orders-1',
      checkpointId: 2,
      trigger: 'savepoint',
    });
    expect(gateway.barriers.at(-1)).toMatchObject({ snapshot: 'savepoint' });
    expect(gateway.log).toEqual(['enumerators 2', 'trigger 2', 'released 2']);
    expect(p.disk.complete).toEqual([1]);
    expect(p.told('committed')).toHaveLength(1);
  });

  test('says of itself that it is one, and that it needs no other file', async () => {
    const p = new Process();
    const pointer = await p.savepoint(await p.launch());
    const metadata = decodeMetadata(p.disk.savepoints.get(pointer)?.metadata ?? new Uint8Array(), pointer);
    expect(metadata).toMatchObject({ kind: 'savepoint', selfContained: true, checkpointId: 1 });
  });

  test('testSavepointsAreNotSubsumed: stays, whatever completes after it, and is not what a failure goes back to', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    const first = await p.savepoint(gateway);
    const second = await p.savepoint(gateway);
    await p.checkpoint(gateway);
    expect([...p.disk.savepoints.keys()]).toEqual([first, second]);
    expect(p.disk.complete).toEqual([4]);
    await p.savepoint(gateway);
    await p.coordinator.attemptEnded(gateway.attempt);
    expect((await p.coordinator.beginAttempt()).restore?.checkpointId).toBe(4);
    expect(p.disk.savepoints.size).toBe(3);
  });

  test('is not given up because a newer checkpoint completes first', async () => {
    const p = new Process({ settings: { maxConcurrent: 2 } });
    const gateway = await p.launch();
    const savepoint = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    const checkpoint = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ackAll(2);
    await checkpoint;
    expect(await stateOf(savepoint)).toBe('pending');
    gateway.ackAll(1);
    expect((await savepoint).checkpointId).toBe(1);
  });

  test('starts beside any number of checkpoints, and before those that wait', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const asked = [p.coordinator.triggerCheckpoint(), p.coordinator.triggerCheckpoint()];
    await p.clock.settle();
    const savepoint = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    expect(gateway.barriers.map((b) => b.snapshot)).toEqual(['checkpoint', 'savepoint']);
    gateway.ackAll(1);
    gateway.ackAll(2);
    await savepoint;
    await p.clock.settle();
    gateway.ackAll(3);
    await Promise.all(asked);
  });

  test('testSavepointTiming, testMinDelayBetweenSavepoints: is held back by no pause, but starts one for checkpoints', async () => {
    const p = new Process({ settings: { intervalMs: 10, minPauseMs: 100_000 } });
    const gateway = await p.launch();
    await p.savepoint(gateway);
    await p.savepoint(gateway);
    expect(gateway.triggered).toEqual([1, 2]);
    await p.clock.advance(99_999);
    expect(gateway.triggered).toEqual([1, 2]);
    await p.clock.advance(100_001);
    expect(gateway.triggered.length).toBeGreaterThan(2);
  });

  test('needs a directory: the one given, else that of the storage', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await expect(p.coordinator.triggerSavepoint()).rejects.toThrow(/^SAVEPOINT_NOWHERE.*savepoint-dir/);
    await expect(p.coordinator.stopWithSavepoint({ drain: false })).rejects.toThrow('SAVEPOINT_NOWHERE');
    expect(gateway.triggered).toEqual([]);
    p.storage.savepointDirectory = 'default';
    const asked = p.coordinator.triggerSavepoint();
    await p.clock.settle();
    gateway.ackAll(1);
    expect((await asked).pointer).toBe('default/savepoint-orders-1');
  });

  test('needs a storage that outlives the job', async () => {
    const p = new Process();
    Object.assign(p.storage, { createSavepoint: undefined });
    await p.launch();
    await expect(p.coordinator.triggerSavepoint('savepoints')).rejects.toThrow(/^SAVEPOINT_NOWHERE.*disk.*fsBackend/);
  });

  test('that cannot be stored is its caller’s affair; one that a subtask declines counts', async () => {
    const p = new Process({ settings: { tolerableFailures: 0 } });
    const gateway = await p.launch();
    p.storage.intercept = (step) => {
      if (step === 'publish savepoint 1') throw new Error('disk full');
    };
    const first = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    gateway.ackAll(1);
    await expect(first).rejects.toThrow(/^CHECKPOINT_FAILED: Savepoint 1 .*FINALIZE_CHECKPOINT_FAILURE/);
    await p.clock.settle();
    expect(p.failures).toEqual([]);
    expect(p.disk.savepoints.size).toBe(0);

    const late = p.coordinator.triggerSavepoint('savepoints');
    late.catch(() => undefined);
    await p.clock.advance(600_000);
    await expect(late).rejects.toThrow('CHECKPOINT_EXPIRED');
    expect(p.failures).toEqual([]);

    const declined = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    gateway.decline(3, OUT);
    await expect(declined).rejects.toThrow('CHECKPOINT_DECLINED');
    expect(p.failures).toHaveLength(1);
  });

  test('ends a row of failures, as a checkpoint does', async () => {
    const p = new Process({ settings: { tolerableFailures: 1 } });
    const gateway = await p.launch();
    const failing = async (id: number): Promise<void> => {
      p.coordinator.triggerCheckpoint().catch(() => undefined);
      await p.clock.settle();
      gateway.decline(id, OUT);
    };
    await failing(1);
    await p.savepoint(gateway);
    await failing(3);
    expect(p.failures).toEqual([]);
    await failing(4);
    expect(p.failures).toHaveLength(1);
  });

  test('whose metadata is never taken holds up no checkpoint, and its caller hears of it in time', async () => {
    const p = new Process({ settings: { timeoutMs: 1000, unaligned: true } });
    const gateway = await p.launch();
    p.storage.intercept = (step, when) =>
      step === 'publish savepoint 1' && when === 'before' ? new Promise<void>(() => undefined) : undefined;
    const asked = expect(p.coordinator.triggerSavepoint('savepoints')).rejects.toThrow('CHECKPOINT_EXPIRED');
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.settle();
    for (const id of [2, 3]) expect(await p.checkpoint(gateway)).toBe(id);
    await p.clock.advance(1000);
    await asked;
    expect(p.failures).toEqual([]);
  });

  test('whose place is never made holds up checkpoints for no longer than half a minute', async () => {
    const p = new Process({ settings: { intervalMs: 1000 } });
    const gateway = await p.launch();
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    p.storage.intercept = (step, when) =>
      step.startsWith('create savepoint') && when === 'before' ? new Promise<void>(() => undefined) : undefined;
    const asked = expect(p.coordinator.triggerSavepoint('savepoints')).rejects.toThrow(
      /TRIGGER_CHECKPOINT_FAILURE.*has not made a place/,
    );
    await p.clock.advance(29_999);
    expect(gateway.triggered).toEqual([]);
    await p.clock.advance(1001);
    await asked;
    expect(gateway.triggered.length).toBeGreaterThanOrEqual(2);
    expect(p.failures).toEqual([]);
  });

  test('of which it is not known whether it was published is left where it is, and named', async () => {
    const p = new Process();
    const gateway = await p.launch();
    p.storage.intercept = (step, when) => {
      if (step === 'publish savepoint 1' && when === 'after') throw new Error('lost connection');
    };
    const asked = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    gateway.ackAll(1);
    await expect(asked).rejects.toThrow('FINALIZE_CHECKPOINT_FAILURE');
    p.storage.intercept = undefined;
    await p.checkpoint(gateway);
    expect([...p.disk.savepoints.keys()]).toEqual(['savepoints/savepoint-orders-1']);
    expect(p.warnings).toEqual([expect.stringMatching(/Savepoint 1 may be complete.*savepoints\/savepoint-orders-1/)]);
  });
});

describe('with preferCheckpointForRecovery: false', () => {
  test('a savepoint that a newer checkpoint has overtaken is none to fall back to', async () => {
    const p = new Process({ settings: { preferCheckpointForRecovery: false, maxConcurrent: 2 } });
    const gateway = await p.launch();
    const savepoint = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    const checkpoint = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ackAll(2);
    await checkpoint;
    gateway.ackAll(1);
    await savepoint;
    await p.clock.settle();
    await p.coordinator.attemptEnded(gateway.attempt);
    expect((await p.coordinator.beginAttempt()).restore?.checkpointId).toBe(2);
  });

  test('a savepoint is committed, and what a failure goes back to, in this process and the next', async () => {
    const disk = new Disk();
    const p = new Process({ disk, settings: { preferCheckpointForRecovery: false } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    const pointer = await p.savepoint(gateway);
    await p.clock.settle();
    expect(p.told('committed').map((c) => c.checkpointId)).toEqual([1, 2]);
    expect(p.disk.complete).toEqual([2]);
    await p.coordinator.attemptEnded(gateway.attempt);
    expect((await p.coordinator.beginAttempt()).restore).toMatchObject({ checkpointId: 2, pointer });
    p.storage.die();

    const next = new Process({ disk });
    expect(await next.start('auto')).toMatchObject({ kind: 'restore', checkpointId: 2, pointer });
    await next.checkpoint(await next.run());
    // What goes is the reference.
    expect(disk.complete).toEqual([3]);
    expect([...disk.savepoints.keys()]).toEqual([pointer]);
  });

  test('going back behind a savepoint that was removed would repeat its output, and is refused', async () => {
    const p = new Process({ settings: { preferCheckpointForRecovery: false, numRetained: 2 } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.disk.savepoints.delete(await p.savepoint(gateway));
    await p.coordinator.attemptEnded(gateway.attempt);
    await expect(p.coordinator.beginAttempt()).rejects.toThrow(/^CHECKPOINT_NOT_NEWEST.*savepoint 2.*sink out/);
  });

  test('where a repetition does no harm, the checkpoint before a removed savepoint is taken, and that is said', async () => {
    const p = new Process({
      settings: { preferCheckpointForRecovery: false, numRetained: 2, allowDuplicates: true },
    });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.disk.savepoints.delete(await p.savepoint(gateway));
    await p.coordinator.attemptEnded(gateway.attempt);
    expect((await p.coordinator.beginAttempt()).restore?.checkpointId).toBe(1);
    expect(p.warnings).toEqual([expect.stringMatching(/goes back behind savepoint 2/)]);
  });
});

describe('stopping with a savepoint', () => {
  test('stops periodic checkpoints, commits what it covers, and leaves nothing but itself and the reference to it', async () => {
    const p = new Process({ settings: { intervalMs: 1000, numRetained: 3, retention: 'retain-on-cancellation' } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    await p.checkpoint(gateway);
    const asked = p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: true });
    await p.clock.settle();
    expect(gateway.barriers.at(-1)).toMatchObject({ checkpointId: 3, snapshot: 'savepoint', stop: 'drain' });
    await p.clock.advance(10_000);
    expect(gateway.triggered).toEqual([1, 2, 3]);
    const commits = deferred();
    gateway.commit = () => commits.promise;
    gateway.ackAll(3);
    const { stats, committed } = await asked;
    expect(await stateOf(committed)).toBe('pending');
    commits.resolve();
    await committed;
    await p.coordinator.attemptEnded(gateway.attempt);
    await p.coordinator.end('stopped');
    expect(p.disk.complete).toEqual([3]);
    expect(p.disk.finished).toBeUndefined();
    expect([...p.disk.savepoints.keys()]).toEqual([stats.pointer]);
    expect(p.disk.owner).toBeUndefined();
  });

  test('that fails leaves the job running, and periodic checkpoints come again', async () => {
    const p = new Process({ settings: { intervalMs: 1000 } });
    const gateway = await p.launch();
    const asked = p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false });
    await p.clock.settle();
    gateway.decline(1, OUT);
    await expect(asked).rejects.toThrow(/^CHECKPOINT_FAILED: Savepoint 1 .*CHECKPOINT_DECLINED/);
    expect(gateway.log).toContain('aborted 1 after 0');
    expect(p.failures).toEqual([]);
    await p.clock.advance(1001);
    expect(gateway.barriers.at(-1)).toMatchObject({ checkpointId: 2, snapshot: 'checkpoint' });
    await p.clock.settle();
    expect(p.disk.savepoints.size).toBe(0);
  });

  test('fails, and nothing was committed, if the job cannot store the reference to the savepoint; the savepoint stays', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.storage.intercept = (step) => {
      if (step === 'publish 2') throw new Error('disk full');
    };
    const asked = p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false });
    await p.clock.settle();
    gateway.ackAll(2);
    await expect(asked).rejects.toThrow('FINALIZE_CHECKPOINT_FAILURE');
    await p.clock.settle();
    expect(gateway.log).not.toContain('completed 2');
    expect(p.warnings).toEqual([expect.stringMatching(/Savepoint 2 may be complete/)]);
    expect([...p.disk.folders.keys()]).toEqual([1]);
    expect(p.disk.savepoints.size).toBe(1);
    p.storage.intercept = undefined;
    expect(await p.checkpoint(gateway)).toBe(3);
  });

  test('that takes too long is given up, and the job goes on', async () => {
    const p = new Process({ settings: { intervalMs: 1_000_000 } });
    const gateway = await p.launch();
    const asked = expect(p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false })).rejects.toThrow(
      'CHECKPOINT_EXPIRED',
    );
    await p.clock.advance(600_000);
    await asked;
    expect(gateway.log.at(-1)).toBe('aborted 1 after 0');
    expect(p.failures).toEqual([]);
  });

  test('that a storage never answers to is its caller’s affair, and the job goes on', async () => {
    const p = new Process({ settings: { intervalMs: 1_000_000 } });
    const gateway = await p.launch();
    p.storage.intercept = (step, when) =>
      step === 'publish savepoint 1' && when === 'before' ? new Promise<void>(() => undefined) : undefined;
    const asked = expect(p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false })).rejects.toThrow(
      'CHECKPOINT_EXPIRED',
    );
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.advance(600_000);
    await asked;
    expect(gateway.log.at(-1)).toBe('aborted 1 after 0');
    expect(p.failures).toEqual([]);
    expect(p.warnings).toEqual([expect.stringContaining('Savepoint 1 may be complete all the same')]);
    await p.clock.advance(1_000_000);
    expect(gateway.triggered).toEqual([1, 2]);
  });

  test.each([0, 1])(
    'that succeeds only after the timeout ends no job, nor is it restored (late at step %d)',
    async (at) => {
      const p = new Process({ settings: { timeoutMs: 1000 } });
      const gateway = await p.launch();
      await p.checkpoint(gateway);
      const late = deferred();
      const step = ['publish savepoint 2', 'publish 2'][at];
      p.storage.intercept = (now, when) => (now === step && when === 'before' ? late.promise : undefined);
      const asked = expect(p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false })).rejects.toThrow(
        'CHECKPOINT_EXPIRED',
      );
      await p.clock.settle();
      gateway.ackAll(2);
      await p.clock.advance(1000);
      await asked;
      late.resolve();
      await p.clock.settle();
      expect(p.failures).toEqual([]);
      expect(p.disk.savepoints.size).toBe(1);
      expect(await p.checkpoint(gateway)).toBe(3);
      expect(p.disk.complete).toEqual([3]);
    },
  );

  test('waits for no periodic checkpoint that is under way: it is given up, and the schedule stands still', async () => {
    const p = new Process({ settings: { intervalMs: 10, unaligned: true } });
    const gateway = await p.launch();
    await p.clock.until(() => gateway.triggered.length === 1);
    const asked = p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false });
    await p.clock.settle();
    expect(p.told('checkpoint-aborted')).toMatchObject([
      { checkpointId: 1, reason: 'PERIODIC_SCHEDULER_SHUTDOWN', counted: false },
    ]);
    expect(gateway.triggered).toEqual([1, 2]);
    gateway.ackAll(2);
    await asked;
    await p.clock.advance(100);
    expect(gateway.triggered).toEqual([1, 2]);
    expect(p.failures).toEqual([]);
  });

  test('waits for no checkpoint that is being published, which then comes too late', async () => {
    const p = new Process({ settings: { intervalMs: 10 } });
    const gateway = await p.launch();
    const publishing = deferred();
    p.storage.intercept = (step, when) => (step === 'publish 1' && when === 'before' ? publishing.promise : undefined);
    await p.clock.until(() => gateway.triggered.length === 1);
    gateway.ackAll(1);
    await p.clock.settle();
    const asked = p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false });
    await p.clock.settle();
    gateway.ackAll(2);
    const { stats, committed } = await asked;
    expect(stats.checkpointId).toBe(2);
    publishing.resolve();
    await committed;
    await p.clock.settle();
    expect(p.told('checkpoint-aborted')).toMatchObject([{ checkpointId: 1, reason: 'CHECKPOINT_SUBSUMED' }]);
    await p.coordinator.attemptEnded(1);
    expect((await p.coordinator.beginAttempt()).restore?.checkpointId).toBe(2);
  });

  test('gives up checkpoints that are still under way', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const older = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_SUBSUMED');
    await p.clock.settle();
    const asked = p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false });
    await p.clock.settle();
    gateway.ackAll(2);
    await asked;
    await older;
    expect(gateway.log.slice(-2)).toEqual(['aborted 1 after 2', 'completed 2']);
  });

  test('is what a later start goes on from, with the same lineage, larger ids, and its own schedule (CO-09)', async () => {
    const disk = new Disk();
    const first = new Process({ disk });
    const gateway = await first.launch();
    await first.checkpoint(gateway);
    const pointer = await first.stop(gateway);
    const next = new Process({ disk, settings: { intervalMs: 1000 } });
    const { lineage } = first.decision!;
    expect(await next.start('auto')).toEqual({ kind: 'restore', lineage, checkpointId: 2, pointer });
    const running = await next.run();
    await next.clock.advance(1001);
    expect(running.triggered).toEqual([3]);
  });

  test('a savepoint that was moved is named by a later start, which goes on from where it is now', async () => {
    const disk = new Disk();
    const first = new Process({ disk });
    const pointer = await first.stop(await first.launch());
    disk.move(pointer, 'elsewhere/s');
    await expect(new Process({ disk }).start('auto')).rejects.toThrow(
      /^CHECKPOINT_UNREADABLE.*was at savepoints\/savepoint-orders-1.*restoreFrom set to its present path/,
    );
    const next = new Process({ disk });
    const { lineage } = first.decision!;
    expect(await next.start({ path: 'elsewhere/s' })).toMatchObject({ checkpointId: 1, lineage });
    await next.checkpoint(await next.run());
    // The reference went with the first new checkpoint; the savepoint is the user's.
    expect([...disk.folders.keys()]).toEqual([2]);
    expect([...disk.savepoints.keys()]).toEqual(['elsewhere/s']);
  });

  test('another savepoint in the place of the one that was stopped with is not taken for it', async () => {
    const disk = new Disk();
    const first = new Process({ disk });
    const gateway = await first.launch();
    const early = await first.savepoint(gateway);
    const last = await first.stop(gateway);
    disk.savepoints.delete(last);
    disk.move(early, last);
    await expect(new Process({ disk }).start('auto')).rejects.toThrow('CHECKPOINT_UNREADABLE');
  });
});

describe('failing between a savepoint and the next checkpoint', () => {
  test('SI-07: repeats nothing, because nothing was committed for the savepoint', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    await p.savepoint(gateway);
    await p.coordinator.attemptEnded(gateway.attempt);
    expect((await p.coordinator.beginAttempt()).restore?.checkpointId).toBe(1);
    expect(p.told('committed').map((c) => c.checkpointId)).toEqual([1]);
  });

  test('gives a savepoint up that is still under way', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const asked = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    await p.coordinator.attemptEnded(gateway.attempt);
    await expect(asked).rejects.toThrow('CHECKPOINT_COORDINATOR_SUSPEND');
    expect(p.disk.savepoints.size).toBe(0);
    await expect(p.coordinator.triggerSavepoint('savepoints')).rejects.toThrow(WeirError);
  });
});
