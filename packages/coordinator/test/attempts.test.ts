import { describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { FakeGateway } from './fake-gateway.js';
import { Process, deferred, historyOn, stateOf } from './harness.js';

describe('each attempt', () => {
  test('restores the newest checkpoint completed by then', async () => {
    const p = new Process();
    const first = await p.launch();
    await p.checkpoint(first);
    await p.checkpoint(first);
    await p.coordinator.attemptEnded(1);
    const { attempt, restore } = await p.coordinator.beginAttempt();
    expect({ attempt, id: restore?.checkpointId }).toEqual({ attempt: 2, id: 2 });
  });

  test('starts afresh if none had completed, and says that', async () => {
    const p = new Process();
    const first = await p.launch();
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    first.ack(1, first.subtasks[0]!);
    await p.coordinator.attemptEnded(1);
    expect(await p.coordinator.beginAttempt()).toMatchObject({
      attempt: 2,
      restore: undefined,
      lineage: p.decision?.lineage,
    });
    expect(p.told('fresh-start').at(-1)?.reason).toContain('no checkpoint had completed');
  });

  test('RE-03: until the run has a checkpoint of its own, each attempt restores the one it started from', async () => {
    const old = new Disk('old');
    await historyOn(old, 5);
    const disk = new Disk();
    disk.elsewhere.push(old);
    const p = new Process({ disk });
    await p.start({ path: 'old/chk-5' });
    for (let attempt = 2; attempt <= 4; attempt++) {
      const start = await p.coordinator.beginAttempt();
      expect(start).toMatchObject({ attempt, restore: { checkpointId: 5, pointer: 'old/chk-5' } });
      p.coordinator.attemptRunning(new FakeGateway(p.coordinator, attempt));
      await p.coordinator.attemptEnded(attempt);
    }
    const gateway = await p.run();
    await p.checkpoint(gateway);
    await p.coordinator.attemptEnded(gateway.attempt);
    expect((await p.coordinator.beginAttempt()).restore?.checkpointId).toBe(6);
  });

  test('has a number above every earlier one, of this process and of others, recorded before anything runs', async () => {
    const disk = new Disk();
    disk.attempt = 41;
    const p = new Process({ disk });
    await p.start();
    expect((await p.coordinator.beginAttempt()).attempt).toBe(42);
    expect(disk.attempt).toBe(42);
    await p.coordinator.attemptEnded(42);
    p.storage.die();
    const next = new Process({ disk });
    await next.start();
    expect((await next.coordinator.beginAttempt()).attempt).toBe(43);
  });

  test('a checkpoint that became unreadable meanwhile is an error, not a fresh start', async () => {
    const p = new Process();
    await p.checkpoint(await p.launch());
    await p.coordinator.attemptEnded(1);
    p.disk.damage(1);
    await expect(p.coordinator.beginAttempt()).rejects.toMatchObject({
      code: 'CHECKPOINT_UNREADABLE',
      recoverable: false,
    });
  });

  test('CO-09: a restored run takes its periodic checkpoints as any other', async () => {
    const disk = new Disk();
    await historyOn(disk, 3);
    const p = new Process({ disk, settings: { intervalMs: 100 } });
    const gateway = await p.launch('latest');
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    await p.clock.until(() => p.told('checkpoint-completed').length === 3);
    expect(p.told('checkpoint-completed').map((c) => c.checkpointId)).toEqual([4, 5, 6]);
  });

  test('cannot be reported running before it has begun, nor twice', async () => {
    const p = new Process();
    await p.start();
    const run = (attempt: number): void => {
      p.coordinator.attemptRunning(new FakeGateway(p.coordinator, attempt));
    };
    const refused = expect.objectContaining({ code: 'PROTOCOL_VIOLATION' });
    expect(() => {
      run(1);
    }).toThrow(refused);
    await p.coordinator.beginAttempt();
    expect(() => {
      run(2);
    }).toThrow(refused);
    run(1);
    expect(() => {
      run(1);
    }).toThrow(refused);
  });

  test('begins only when the one before has written its last, so that it restores what that one published', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const publishing = deferred();
    p.storage.intercept = (step, when) => (step === 'publish 1' && when === 'before' ? publishing.promise : undefined);
    void p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.settle();
    void p.coordinator.attemptEnded(1);
    const begun = p.coordinator.beginAttempt();
    expect(await stateOf(begun)).toBe('pending');
    publishing.resolve();
    expect((await begun).restore?.checkpointId).toBe(1);
  });

  test('before the job has started or after its end there is none', async () => {
    const p = new Process();
    await expect(p.coordinator.beginAttempt()).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
    await expect(p.coordinator.finalCheckpoint()).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
    await p.start();
    await p.coordinator.end('failed');
    await expect(p.coordinator.beginAttempt()).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
  });
});

describe('when an attempt ends', () => {
  test('pending and queued checkpoints end with CHECKPOINT_COORDINATOR_SUSPEND, their files go, no timer is left', async () => {
    const p = new Process({ settings: { intervalMs: 50 } });
    const gateway = await p.launch();
    const both = [p.coordinator.triggerCheckpoint(), p.coordinator.triggerCheckpoint()].map((asked) =>
      expect(asked).rejects.toThrow('CHECKPOINT_COORDINATOR_SUSPEND'),
    );
    await p.clock.settle();
    gateway.ack(1, gateway.subtasks[0]!);
    await p.coordinator.attemptEnded(1);
    await Promise.all(both);
    // Its subtasks are gone or going: there is nobody left to tell.
    expect(gateway.log).toEqual(['enumerators 1', 'trigger 1']);
    expect(p.disk.folders.size).toBe(0);
    expect(p.clock.pendingTimers).toBe(0);
    expect(p.failures).toEqual([]);
  });

  test('it waits for a location that is being made, and for files that are being removed', async () => {
    const p = new Process();
    await p.launch();
    const creating = deferred();
    const discarding = deferred();
    p.storage.intercept = (step, when) => {
      if (when === 'after') return undefined;
      if (step === 'create 1') return creating.promise;
      if (step === 'discard 1') return discarding.promise;
      return undefined;
    };
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    const ended = p.coordinator.attemptEnded(1);
    await p.clock.settle();
    expect(await stateOf(ended)).toBe('pending');
    creating.resolve();
    await p.clock.settle();
    expect(await stateOf(ended)).toBe('pending');
    discarding.resolve();
    await ended;
    expect(p.disk.folders.size).toBe(0);
  });

  test('ending it again is the same end; ending one that is not current changes nothing', async () => {
    const p = new Process();
    await p.launch();
    await Promise.all([p.coordinator.attemptEnded(1), p.coordinator.attemptEnded(1)]);
    const second = await p.run();
    await p.coordinator.attemptEnded(1);
    expect(await p.checkpoint(second)).toBe(1);
  });

  test('its right to commit ends with it', async () => {
    const p = new Process();
    await p.start();
    await p.coordinator.beginAttempt();
    // Restored output is committed before the attempt runs.
    await expect(p.coordinator.verify(1)).resolves.toBeUndefined();
    await expect(p.coordinator.verify(2)).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
    await p.coordinator.attemptEnded(1);
    await expect(p.coordinator.verify(1)).rejects.toMatchObject({ code: 'STORAGE_FENCED', recoverable: false });
  });

  test('also while the lock is being checked', async () => {
    const p = new Process();
    await p.launch();
    const verifying = deferred();
    p.storage.intercept = (step, when) => (step === 'verify' && when === 'before' ? verifying.promise : undefined);
    const verified = expect(p.coordinator.verify(1)).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
    await p.coordinator.attemptEnded(1);
    verifying.resolve();
    await verified;
  });

  test('the count of failures in a row goes on in the next attempt', async () => {
    const p = new Process({ settings: { tolerableFailures: 1 } });
    for (const attempt of [1, 2]) {
      const gateway = attempt === 1 ? await p.launch() : await p.run();
      p.coordinator.triggerCheckpoint().catch(() => undefined);
      await p.clock.settle();
      gateway.decline(attempt, gateway.subtasks[0]!);
      expect(p.failures).toHaveLength(attempt - 1);
      await p.coordinator.attemptEnded(attempt);
    }
  });
});
