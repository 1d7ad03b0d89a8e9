import { WeirError, decodeMetadata } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { Process, deferred, historyOn, stateOf } from './harness.js';
import { Disk } from './disk.js';
import { OUT, SOURCE } from './plan.js';

describe('the completion order', () => {
  test('verify, publish, subtasks told and committed, older files removed; the caller waits only for durability', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.storage.steps.length = 0;
    gateway.log.length = 0;
    p.storage.intercept = (step, when) => {
      if (when === 'after') gateway.log.push(step);
    };
    const commits = deferred();
    gateway.commit = async () => {
      await commits.promise;
      gateway.log.push('committed');
    };
    const asked = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ackAll(2);
    await asked;
    await p.clock.settle();
    expect(p.told('committed')).toHaveLength(1);
    commits.resolve();
    await p.clock.settle();
    expect(gateway.log).toEqual([
      'create 2',
      'enumerators 2',
      'trigger 2',
      'verify',
      'publish 2',
      'completed 2',
      'committed',
      'committed disk/chk-2',
      'verify',
      'delete 1',
    ]);
    expect(p.told('committed')).toEqual([
      { kind: 'committed', checkpointId: 1, committables: 1 },
      { kind: 'committed', checkpointId: 2, committables: 1 },
    ]);
  });

  test('the next checkpoint may start, and complete, while commits of the last are under way; subtasks are told in order', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const commits = deferred();
    gateway.commit = () => commits.promise;
    for (const id of [1, 2]) {
      const asked = p.coordinator.triggerCheckpoint();
      await p.clock.settle();
      gateway.ackAll(id);
      await asked;
    }
    expect(gateway.log.filter((entry) => entry.startsWith('completed'))).toEqual(['completed 1', 'completed 2']);
    expect(p.told('committed')).toEqual([]);
    expect(p.disk.complete).toEqual([1, 2]);
    commits.resolve();
    await p.clock.settle();
    expect(p.disk.complete).toEqual([2]);
  });

  test('older pending checkpoints are given up before subtasks hear of the newer one', async () => {
    const p = new Process({ settings: { maxConcurrent: 2 } });
    const gateway = await p.launch();
    const first = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_SUBSUMED');
    const second = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ackAll(2);
    await second;
    await first;
    expect(gateway.log.slice(-2)).toEqual(['aborted 1 after 2', 'completed 2']);
    expect(p.disk.complete).toEqual([2]);
    await p.clock.settle();
    expect(p.disk.incomplete).toEqual([]);
  });

  test('checkpoints complete in the order of their ids, also when the storage is slow', async () => {
    const p = new Process({ settings: { maxConcurrent: 3, numRetained: 3 } });
    const gateway = await p.launch();
    const publishing = deferred();
    p.storage.intercept = (step, when) => (step === 'publish 2' && when === 'before' ? publishing.promise : undefined);
    const asked = [1, 2, 3].map(() => p.coordinator.triggerCheckpoint());
    asked[0]?.catch(() => undefined);
    await p.clock.settle();
    gateway.ackAll(2);
    gateway.ackAll(1);
    gateway.ackAll(3);
    await p.clock.settle();
    publishing.resolve();
    await Promise.all(asked.slice(1));
    expect(p.told('checkpoint-completed').map((c) => c.checkpointId)).toEqual([2, 3]);
    // Fully acknowledged behind 2, it had nothing left to add when 2 was complete.
    await expect(asked[0]).rejects.toThrow('CHECKPOINT_SUBSUMED');
  });

  test('the metadata names every part, what was restored, and who wrote it', async () => {
    const disk = new Disk();
    await historyOn(disk, 1);
    const p = new Process({ disk });
    const gateway = await p.launch();
    const bytes = Uint8Array.of(7);
    gateway.enumerate = async () => [{ uid: 'numbers', serializer: { id: 's', version: 1 }, bytes }];
    await p.checkpoint(gateway);
    const metadata = decodeMetadata(disk.folders.get(2)?.metadata ?? new Uint8Array(), 'chk-2');
    expect(metadata).toMatchObject({
      job: 'orders',
      lineage: p.decision?.lineage,
      attempt: 2,
      checkpointId: 2,
      kind: 'checkpoint',
      restoredFrom: { checkpointId: 1, pointer: 'disk/chk-1' },
      selfContained: true,
      graphHash: 'hash',
      operators: [
        { uid: 'numbers', parallelism: 1, maxParallelism: 128, enumerator: { bytes }, subtasks: [{ index: 0 }] },
        { uid: 'out', enumerator: undefined, subtasks: [{ index: 0, committables: { newest: 2 } }] },
      ],
    });
    expect(metadata.nodeVersion).toBe(process.versions.node);
  });

  test('state of an operator outside the plan fails the checkpoint instead of being lost', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow(/FINALIZE_CHECKPOINT_FAILURE.*ghost/);
    await p.clock.settle();
    gateway.ack(1, SOURCE);
    const snapshot = { subtask: OUT, operators: [{ uid: 'ghost', keyed: [], operator: [] }] };
    p.coordinator.receive(gateway.ackOf(1, OUT, { snapshot }));
    await asked;
  });
});

describe('when publishing fails', () => {
  test('testExceptionInStoringCompletedCheckpointIsReportedToFailureManager: it is counted, told, and its files go', async () => {
    const p = new Process();
    const gateway = await p.launch();
    p.storage.intercept = (step, when) => {
      if (step === 'publish 1' && when === 'before') throw new Error('no space left');
    };
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow(
      /FINALIZE_CHECKPOINT_FAILURE.*no space left/,
    );
    await p.clock.settle();
    gateway.ackAll(1);
    await asked;
    await p.clock.settle();
    expect(p.failures).toHaveLength(1);
    expect(p.coordinator.statistics().counts).toMatchObject({ failed: 1, completed: 0 });
    expect(gateway.log.at(-1)).toBe('aborted 1 after 0');
    expect(p.disk.folders.size).toBe(0);
  });

  test('SG-12: a disk that is full for a while leaves the last good checkpoint alone, and checkpoints resume with the next tick', async () => {
    const p = new Process({ settings: { intervalMs: 50, tolerableFailures: 10 } });
    const gateway = await p.launch();
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    await p.clock.until(() => p.disk.complete.length === 1);
    p.storage.intercept = (step, when) => {
      if (step.startsWith('publish') && when === 'before')
        throw Object.assign(new Error('ENOSPC'), { syscall: 'write' });
    };
    const from = p.clock.now();
    await p.clock.until(() => p.told('checkpoint-aborted').length === 3);
    expect(p.clock.now() - from).toBeGreaterThanOrEqual(100);
    await p.clock.settle();
    expect([...p.disk.folders.keys()]).toEqual([1]);
    p.storage.intercept = undefined;
    await p.clock.until(() => p.told('checkpoint-completed').length === 3);
    expect(p.failures).toEqual([]);
  });

  test.each([
    ['the answer got lost', { list: false }],
    ['and the storage cannot even be listed', { list: true }],
  ])('its files are kept if it may have happened: %s', async (_title, { list }) => {
    const p = new Process({ settings: { tolerableFailures: 5 } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.storage.intercept = (step, when) => {
      if (step === 'publish 2' && when === 'after') throw new Error('connection reset');
      if (step === 'list' && list) throw new Error('connection reset');
    };
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('connection reset');
    await p.clock.settle();
    gateway.ackAll(2);
    await asked;
    await p.clock.settle();
    // Both are there, and which of them a new process finds does not matter: nothing that 2 covers was committed.
    expect(p.disk.complete).toEqual([1, 2]);
    expect(gateway.log).not.toContain('completed 2');
    expect(p.told('committed').map((e) => e.checkpointId)).toEqual([1]);
    p.storage.intercept = undefined;
    expect(await p.checkpoint(gateway)).toBe(3);
    expect([...p.disk.folders.keys()]).toEqual([3]);
  });

  test('an attempt in the same process goes back to the last one that is known to be durable', async () => {
    const p = new Process({ settings: { tolerableFailures: 5 } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.storage.intercept = (step, when) => {
      if (step === 'publish 2' && when === 'after') throw new Error('connection reset');
    };
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    gateway.ackAll(2);
    await p.clock.settle();
    await p.coordinator.attemptEnded(1);
    const { restore } = await p.coordinator.beginAttempt();
    expect(restore?.checkpointId).toBe(1);
  });
});

describe('the right to write', () => {
  test('a process that lost its lock publishes nothing, removes nothing, and fails for good', async () => {
    const disk = new Disk();
    const p = new Process({ disk, settings: { tolerableFailures: 5 } });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('FINALIZE_CHECKPOINT_FAILURE');
    await p.clock.settle();
    disk.owner = disk.storage();
    gateway.ackAll(2);
    await asked;
    await p.clock.settle();
    expect(p.failures).toMatchObject([{ attempt: 1, error: { code: 'STORAGE_FENCED', recoverable: false } }]);
    expect(disk.complete).toEqual([1]);
    expect(disk.incomplete).toEqual([2]);
    await expect(p.coordinator.verify(1)).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
    await p.coordinator.attemptEnded(1);
    await p.coordinator.end('cancelled');
    expect(disk.complete).toEqual([1]);
    expect(disk.owner).toBeDefined();
  });

  test('that it lost its lock is the reason, also where no failed checkpoint is tolerable', async () => {
    const p = new Process({ settings: { tolerableFailures: 0 } });
    const gateway = await p.launch();
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    p.disk.owner = p.disk.storage();
    gateway.ackAll(1);
    await p.clock.settle();
    expect(p.failures[0]).toMatchObject({ error: { code: 'STORAGE_FENCED' } });
  });

  test('that it lost its lock is the reason, also where the next owner has removed what was to be restored', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    await p.coordinator.attemptEnded(1);
    p.disk.owner = p.disk.storage();
    p.disk.folders.clear();
    await expect(p.coordinator.beginAttempt()).rejects.toMatchObject({ code: 'STORAGE_FENCED', recoverable: false });
  });

  test('a lock that cannot be checked right now is an ordinary failure', async () => {
    const p = new Process({ settings: { tolerableFailures: 5 } });
    const gateway = await p.launch();
    p.storage.intercept = (step) => {
      if (step === 'verify') throw new WeirError('STORAGE_FAILED', 'try later');
    };
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('try later');
    await p.clock.settle();
    gateway.ackAll(1);
    await asked;
    expect(p.failures).toEqual([]);
    p.storage.intercept = undefined;
    expect(await p.checkpoint(gateway)).toBe(2);
    await p.clock.advance(1000);
    expect([...p.disk.folders.keys()]).toEqual([2]);
  });
});

describe('the end of the attempt', () => {
  test('while publishing: it waits, the checkpoint is complete, its caller hears of it, and the next attempt restores it', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const publishing = deferred();
    p.storage.intercept = (step, when) => (step === 'publish 1' && when === 'before' ? publishing.promise : undefined);
    const asked = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.settle();
    const ended = p.coordinator.attemptEnded(1);
    await p.clock.settle();
    expect(await stateOf(ended)).toBe('pending');
    publishing.resolve();
    await ended;
    expect(p.clock.pendingTimers).toBe(0);
    await expect(asked).resolves.toMatchObject({ checkpointId: 1 });
    expect(gateway.log).not.toContain('completed 1');
    const { restore } = await p.coordinator.beginAttempt();
    expect(restore?.checkpointId).toBe(1);
  });

  test('before publishing: the checkpoint does not exist', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const verifying = deferred();
    p.storage.intercept = (step, when) => (step === 'verify' && when === 'before' ? verifying.promise : undefined);
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_COORDINATOR_SUSPEND');
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.settle();
    const ended = p.coordinator.attemptEnded(1);
    verifying.resolve();
    await ended;
    await asked;
    expect(p.disk.folders.size).toBe(0);
  });

  test('while commits run: what they made superfluous stays until the next attempt has committed', async () => {
    const p = new Process();
    const first = await p.launch();
    await p.checkpoint(first);
    first.commit = () => new Promise(() => undefined);
    await p.checkpoint(first);
    await p.coordinator.attemptEnded(1);
    await p.clock.settle();
    expect(p.disk.complete).toEqual([1, 2]);
    const { attempt, restore } = await p.coordinator.beginAttempt();
    expect(restore?.checkpointId).toBe(2);
    expect(p.disk.complete).toEqual([1, 2]);
    await p.coordinator.attemptEnded(attempt);
    await p.run();
    await p.clock.settle();
    expect(p.disk.complete).toEqual([2]);
  });
});

describe('a storage that hangs while publishing', () => {
  test('has its checkpoint given up, names itself as the reason, and holds up no other; what it publishes late is removed', async () => {
    const p = new Process({ settings: { timeoutMs: 100, tolerableFailures: 2 } });
    const gateway = await p.launch();
    const publishing = deferred();
    p.storage.intercept = (step, when) => (step === 'publish 1' && when === 'before' ? publishing.promise : undefined);
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow(
      /CHECKPOINT_EXPIRED.*the storage has not answered/,
    );
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.advance(100);
    await asked;
    expect(p.failures).toEqual([]);
    expect(gateway.log.at(-1)).toBe('aborted 1 after 0');
    expect(await p.checkpoint(gateway)).toBe(2);
    publishing.resolve();
    await p.clock.settle();
    expect(p.disk.complete).toEqual([1, 2]);
    expect(p.told('checkpoint-completed').map(({ checkpointId }) => checkpointId)).toEqual([2]);
    await p.checkpoint(gateway);
    expect(p.disk.complete).toEqual([3]);
  });

  test('and never answers is outlived by the attempt, and by the job, whose lock stays with the process', async () => {
    const p = new Process();
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    p.storage.intercept = (step, when) => {
      if (step === 'publish 2' && when === 'before') return new Promise<void>(() => undefined);
    };
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow('CHECKPOINT_COORDINATOR_SUSPEND');
    await p.clock.settle();
    gateway.ackAll(2);
    await p.clock.settle();
    const ended = p.coordinator.attemptEnded(1);
    await p.clock.advance(10_000);
    await ended;
    await asked;
    const { restore } = await p.coordinator.beginAttempt();
    expect(restore?.checkpointId).toBe(1);
    await p.coordinator.attemptEnded(2);
    const over = p.coordinator.end('suspended');
    await p.clock.advance(10_000);
    await over;
    expect(p.disk.owner).toBeDefined();
    expect(p.warnings.at(-1)).toMatch(/has not answered to 1 calls. The lock stays/);
    expect(p.clock.pendingTimers).toBe(0);
  });

  test('gives the lock back once it has answered after all', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const publishing = deferred();
    p.storage.intercept = (step, when) => (step === 'publish 1' && when === 'before' ? publishing.promise : undefined);
    p.coordinator.triggerCheckpoint().catch(() => undefined);
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.settle();
    const over = p.coordinator.end('suspended');
    await p.clock.advance(20_000);
    await over;
    expect(p.storage.isClosed).toBe(false);
    publishing.resolve();
    await p.clock.settle();
    expect(p.disk.owner).toBeUndefined();
    expect(p.storage.isClosed).toBe(true);
  });

  test('is not told from a lock that cannot be checked: neither is published later', async () => {
    const p = new Process({ settings: { timeoutMs: 100, tolerableFailures: 2 } });
    const gateway = await p.launch();
    const verifying = deferred();
    p.storage.intercept = (step, when) => (step === 'verify' && when === 'before' ? verifying.promise : undefined);
    const asked = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow(/whether the lock is still held/);
    await p.clock.settle();
    gateway.ackAll(1);
    await p.clock.advance(100);
    await asked;
    verifying.resolve();
    await p.clock.settle();
    expect(p.storage.steps).not.toContain('publish 1');
    expect(p.disk.folders.size).toBe(0);
  });
});

describe('an event loop that was blocked', () => {
  test('is not taken for a storage or a subtask that does not answer: they get that time as well, once', async () => {
    const p = new Process({ settings: { timeoutMs: 1000, tolerableFailures: 2 } });
    const gateway = await p.launch();
    const asked = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    p.clock.block(8000);
    await p.clock.settle();
    gateway.ackAll(1);
    await expect(asked).resolves.toMatchObject({ checkpointId: 1 });

    const late = expect(p.coordinator.triggerCheckpoint()).rejects.toThrow(/2 of 2 subtasks.*blocked for 7000 ms/);
    await p.clock.settle();
    p.clock.block(8000);
    await p.clock.advance(1000);
    await late;
  });

  test('misses its ticks: they are one checkpoint, and the next comes at its own time', async () => {
    const p = new Process({ settings: { intervalMs: 200 } });
    const gateway = await p.launch();
    gateway.onTrigger = (id) => queueMicrotask(() => gateway.ackAll(id));
    await p.clock.until(() => gateway.triggered.length === 1);
    p.clock.block(8000);
    await p.clock.advance(150);
    expect(gateway.triggered).toEqual([1, 2]);
    await p.clock.advance(50);
    expect(gateway.triggered).toEqual([1, 2, 3]);
  });
});

test('files that cannot be removed are said aloud, never fail the job, and are removed when it has had a rest', async () => {
  const p = new Process();
  const gateway = await p.launch();
  await p.checkpoint(gateway);
  p.storage.intercept = (step) => {
    if (step === 'delete 1') throw new Error('busy');
  };
  await p.checkpoint(gateway);
  expect(p.warnings).toEqual([expect.stringMatching(/checkpoint 1 could not be removed.*busy/)]);
  expect(p.failures).toEqual([]);
  await p.clock.advance(1000);
  expect(p.warnings).toHaveLength(2);
  p.storage.intercept = undefined;
  await p.checkpoint(gateway);
  await p.clock.advance(2000);
  expect(p.disk.complete).toEqual([3]);
});

test('testAddCheckpointMoreThanMaxRetained: the newest numRetained stay', async () => {
  const p = new Process({ settings: { numRetained: 2 } });
  const gateway = await p.launch();
  for (let i = 0; i < 4; i++) await p.checkpoint(gateway);
  expect(p.disk.complete).toEqual([3, 4]);
});

test('a listener that throws fails the attempt instead of the process, and the attempt can still end', async () => {
  const p = new Process();
  const gateway = await p.launch();
  p.onEvent = (event) => {
    if (event.kind === 'checkpoint-completed') throw new Error('bad listener');
  };
  p.coordinator.triggerCheckpoint().catch(() => undefined);
  await p.clock.settle();
  gateway.ackAll(1);
  await p.clock.settle();
  expect(p.failures).toMatchObject([{ attempt: 1, error: { message: expect.stringContaining('bad listener') } }]);
  p.onEvent = () => undefined;
  await p.coordinator.attemptEnded(1);
  expect((await p.coordinator.beginAttempt()).restore?.checkpointId).toBe(1);
});
