import { expect, test } from 'vitest';
import { Process, deferred, stateOf } from './harness.js';
import { OUT } from './plan.js';

test('is taken at once and settles only when its output is committed', async () => {
  const p = new Process({ settings: { intervalMs: 1000, minPauseMs: 1000 } });
  const gateway = await p.launch();
  const commits = deferred();
  gateway.commit = () => commits.promise;
  const final = p.coordinator.finalCheckpoint();
  await p.clock.settle();
  expect(p.told('checkpoint-triggered')).toEqual([{ kind: 'checkpoint-triggered', checkpointId: 1, trigger: 'final' }]);
  gateway.ackAll(1);
  await p.clock.settle();
  expect(p.disk.complete).toEqual([1]);
  expect(await stateOf(final)).toBe('pending');
  commits.resolve();
  await final;
});

test('stops periodic checkpoints, those that wait included, and lets those under way go on', async () => {
  const p = new Process({ settings: { intervalMs: 10 } });
  const gateway = await p.launch();
  await p.clock.advance(50);
  expect(gateway.triggered).toEqual([1]);
  const final = p.coordinator.finalCheckpoint();
  await p.clock.advance(50);
  // Beside the pending one, although only one at a time is allowed.
  expect(gateway.triggered).toEqual([1, 2]);
  gateway.ackAll(1);
  gateway.ackAll(2);
  await final;
  await p.clock.advance(1000);
  expect(gateway.triggered).toEqual([1, 2]);
  expect(p.told('checkpoint-completed').map((c) => c.checkpointId)).toEqual([1, 2]);
});

test('is tried again after a tolerable failure, not at full speed', async () => {
  const p = new Process({ settings: { tolerableFailures: 100 } });
  const gateway = await p.launch();
  const times: number[] = [];
  gateway.onTrigger = (id) => {
    times.push(p.clock.now());
    queueMicrotask(() => {
      if (id < 12) gateway.decline(id, OUT);
      else gateway.ackAll(id);
    });
  };
  let isDone = false;
  void p.coordinator.finalCheckpoint().then(() => {
    isDone = true;
  });
  await p.clock.until(() => isDone);
  const pauses = times.slice(1).map((t, i) => t - (times[i] ?? 0));
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000, 10_000]);
});

test('rejects with what failed the attempt once failures are not tolerable any more', async () => {
  const p = new Process({ settings: { tolerableFailures: 1 } });
  const gateway = await p.launch();
  gateway.onTrigger = (id) =>
    queueMicrotask(() => {
      gateway.decline(id, OUT);
    });
  const final = expect(p.coordinator.finalCheckpoint()).rejects.toMatchObject({
    code: 'CHECKPOINT_TOLERANCE_EXCEEDED',
  });
  await p.clock.advance(1000);
  await final;
  expect(p.failures).toHaveLength(1);
  expect(gateway.triggered).toEqual([1, 2]);
});

test.each(['while it is pending', 'while it waits to try again', 'while commits run'])(
  'rejects when the attempt ends %s',
  async (when) => {
    const p = new Process({ settings: { tolerableFailures: 9 } });
    const gateway = await p.launch();
    gateway.commit = () => new Promise(() => undefined);
    const final = expect(p.coordinator.finalCheckpoint()).rejects.toThrow();
    await p.clock.settle();
    if (when === 'while it waits to try again') gateway.decline(1, OUT);
    if (when === 'while commits run') gateway.ackAll(1);
    await p.clock.settle();
    await p.coordinator.attemptEnded(1);
    await final;
    await p.clock.advance(100_000);
    expect(gateway.triggered).toEqual([1]);
    expect(p.clock.pendingTimers).toBe(0);
  },
);

test('a manual checkpoint that completes first does not stand in for it', async () => {
  const p = new Process({ settings: { maxConcurrent: 2 } });
  const gateway = await p.launch();
  let isDone = false;
  void p.coordinator.finalCheckpoint().then(() => {
    isDone = true;
  });
  await p.clock.settle();
  const manual = p.coordinator.triggerCheckpoint();
  await p.clock.settle();
  gateway.ackAll(2);
  await manual;
  await p.clock.settle();
  expect(isDone).toBe(false);
  await p.clock.until(() => gateway.triggered.includes(3));
  gateway.ackAll(3);
  await p.clock.until(() => isDone);
});
