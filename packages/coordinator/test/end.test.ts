import type { RetentionPolicy } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { decodeFinished } from '../src/finished-marker.js';
import type { JobOutcome } from '../src/retention.js';
import { Process, stateOf } from './harness.js';

async function ended(outcome: JobOutcome, retention: RetentionPolicy = 'delete-on-cancellation'): Promise<Process> {
  const p = new Process({ settings: { retention, numRetained: 2, intervalMs: 100 } });
  const gateway = await p.launch();
  for (let i = 0; i < 3; i++) await p.checkpoint(gateway);
  await p.coordinator.attemptEnded(gateway.attempt);
  await p.coordinator.end(outcome);
  return p;
}

describe('testExternalizedCheckpoints, SG-16: what is left of the checkpoints', () => {
  const policies = ['no-externalized', 'delete-on-cancellation', 'retain-on-cancellation'] as const;
  // A stopped one is in savepoints.test.ts.
  const kept: Record<Exclude<JobOutcome, 'stopped'>, readonly RetentionPolicy[]> = {
    finished: [],
    cancelled: ['retain-on-cancellation'],
    failed: ['delete-on-cancellation', 'retain-on-cancellation'],
    suspended: policies,
  };
  test.each(
    (Object.keys(kept) as (keyof typeof kept)[]).flatMap((outcome) => policies.map((policy) => ({ outcome, policy }))),
  )('$outcome, $policy', async ({ outcome, policy }) => {
    const p = await ended(outcome, policy);
    expect(p.disk.complete).toEqual(kept[outcome].includes(policy) ? [2, 3] : []);
    expect(p.disk.owner).toBeUndefined();
    expect(p.clock.pendingTimers).toBe(0);
    if (p.disk.complete.length === 0) return;
    const next = new Process({ disk: p.disk });
    expect(await next.start()).toMatchObject({ kind: 'restore', checkpointId: 3 });
  });
});

test('testDiscardAllCheckpoints: a finished job leaves its mark first, and then nothing to resume', async () => {
  const p = await ended('finished');
  expect(p.storage.steps.slice(-6)).toEqual(['finish', 'verify', 'delete 2', 'verify', 'delete 3', 'release']);
  expect(decodeFinished(p.disk.finished!, 'orders')).toMatchObject({
    lineage: p.decision?.lineage,
    attempt: 1,
    checkpointId: 3,
  });
  const next = new Process({ disk: p.disk });
  expect(await next.start()).toMatchObject({ kind: 'already-finished' });
});

test('only a finished job leaves a mark', async () => {
  for (const outcome of ['failed', 'cancelled', 'suspended'] as const)
    expect((await ended(outcome)).disk.finished).toBeUndefined();
});

test('a mark that cannot be written fails the end, keeps the last checkpoint, and lets go of the lock', async () => {
  const p = new Process();
  const gateway = await p.launch();
  await p.checkpoint(gateway);
  await p.coordinator.attemptEnded(1);
  p.storage.intercept = (step) => {
    if (step === 'finish') throw new Error('disk full');
  };
  await expect(p.coordinator.end('finished')).rejects.toThrow('disk full');
  expect(p.disk.complete).toEqual([1]);
  expect(p.disk.owner).toBeUndefined();
  expect(p.storage.isClosed).toBe(true);
});

test('the end is the same end however often it is asked for, and whatever is asked then', async () => {
  const p = new Process();
  await p.checkpoint(await p.launch());
  await p.coordinator.attemptEnded(1);
  await Promise.all([p.coordinator.end('failed'), p.coordinator.end('cancelled')]);
  expect(p.disk.complete).toEqual([1]);
});

test('a job that never started can be ended', async () => {
  const p = new Process();
  await p.coordinator.end('failed');
  expect(p.storage.steps).toEqual([]);
});

test('ends an attempt that still runs', async () => {
  const p = new Process({ settings: { intervalMs: 10 } });
  await p.launch();
  const asked = p.coordinator.triggerCheckpoint();
  await p.clock.settle();
  const refused = expect(asked).rejects.toThrow('CHECKPOINT_COORDINATOR_SHUTDOWN');
  await p.coordinator.end('cancelled');
  await refused;
  expect(await stateOf(p.coordinator.verify(1))).toBe('rejected');
  expect(p.clock.pendingTimers).toBe(0);
});

test('an older checkpoint that cannot be removed keeps the newer ones, lest it pass for the newest', async () => {
  const p = new Process({ settings: { numRetained: 2 } });
  const gateway = await p.launch();
  for (let i = 0; i < 2; i++) await p.checkpoint(gateway);
  await p.coordinator.attemptEnded(1);
  p.storage.intercept = (step) => {
    if (step === 'delete 1') throw new Error('busy');
  };
  await p.coordinator.end('cancelled');
  expect(p.disk.complete).toEqual([1, 2]);
  expect(p.warnings).toEqual([expect.stringMatching(/checkpoint 1 .*busy/)]);
});

test('of a finished job the rest goes all the same, for its mark rules restoring out', async () => {
  const p = new Process({ settings: { numRetained: 2 } });
  const gateway = await p.launch();
  for (let i = 0; i < 2; i++) await p.checkpoint(gateway);
  await p.coordinator.attemptEnded(1);
  p.storage.intercept = (step) => {
    if (step === 'delete 1') throw new Error('busy');
  };
  await p.coordinator.end('finished');
  expect(p.disk.complete).toEqual([1]);
});

test('what could not be removed while the job ran is removed at its end', async () => {
  const p = new Process();
  const gateway = await p.launch();
  await p.checkpoint(gateway);
  p.storage.intercept = (step) => {
    if (step === 'delete 1') throw new Error('busy');
  };
  await p.checkpoint(gateway);
  await p.coordinator.attemptEnded(1);
  p.storage.intercept = undefined;
  await p.coordinator.end('finished');
  expect(p.disk.folders.size).toBe(0);
});

test('what may be complete without being known to be goes too, oldest first', async () => {
  const p = new Process({ settings: { tolerableFailures: 9 } });
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
  expect(p.disk.complete).toEqual([1, 2]);
  await p.coordinator.end('cancelled');
  expect(p.storage.steps.filter((step) => step.startsWith('delete'))).toEqual(['delete 1', 'delete 2']);
});

test('a process that lost its lock does not say that the job has finished', async () => {
  const p = new Process();
  const gateway = await p.launch();
  await p.checkpoint(gateway);
  await p.coordinator.attemptEnded(1);
  p.disk.owner = p.disk.storage();
  await expect(p.coordinator.end('finished')).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
  expect(p.disk.finished).toBeUndefined();
  expect(p.disk.complete).toEqual([1]);
});

async function endedUncommitted(outcome: 'cancelled' | 'failed'): Promise<Process> {
  const p = new Process({ settings: { retention: 'no-externalized' } });
  const gateway = await p.launch();
  await p.checkpoint(gateway);
  gateway.commit = () => new Promise(() => undefined);
  p.coordinator.triggerCheckpoint().catch(() => undefined);
  await p.clock.settle();
  gateway.ackAll(2);
  await p.clock.settle();
  await p.coordinator.attemptEnded(1);
  await p.coordinator.end(outcome);
  return p;
}

test('a job that failed before its output was published keeps the checkpoint that holds it, and the next start publishes it', async () => {
  const p = await endedUncommitted('failed');
  expect(p.disk.complete).toEqual([2]);
  expect(p.events.some((event) => event.kind === 'warning' && event.message.includes('checkpoint 2'))).toBe(true);

  const next = new Process({ disk: p.disk, settings: { retention: 'no-externalized' } });
  const again = await next.launch();
  expect(next.decision).toMatchObject({ kind: 'restore', checkpointId: 2 });
  await next.coordinator.attemptEnded(again.attempt);
  await next.coordinator.end('failed');
  expect(next.disk.complete).toEqual([]);
});

test('a job that was cancelled keeps none, and says which output went with it', async () => {
  const p = await endedUncommitted('cancelled');
  expect(p.disk.complete).toEqual([]);
  expect(p.warnings).toEqual([expect.stringMatching(/cancelled before all output of checkpoint 2 was published/)]);
});

test.each(['cancelled', 'finished'] as const)(
  'a removal that never answers holds the end of a job that is %s up for ten seconds, not for ever',
  async (outcome) => {
    const p = new Process({ settings: { numRetained: 3 } });
    const gateway = await p.launch();
    for (let i = 0; i < 3; i++) await p.checkpoint(gateway);
    await p.coordinator.attemptEnded(1);
    p.storage.intercept = (step, when) =>
      step === 'delete 1' && when === 'before' ? new Promise<void>(() => undefined) : undefined;
    const ended = p.coordinator.end(outcome);
    await p.clock.advance(9_999);
    expect(await stateOf(ended)).toBe('pending');
    await p.clock.advance(1);
    await ended;
    expect(p.disk.complete).toEqual(outcome === 'finished' ? [1] : [1, 2, 3]);
    expect(p.warnings.join()).toMatch(/checkpoint 1 .*stay behind.*has not answered.*The lock stays with this process/);
    expect(p.disk.owner).toBeDefined();
  },
);

test('many removals that never answer are bounded all together', async () => {
  const p = new Process({ settings: { numRetained: 20 } });
  const gateway = await p.launch();
  for (let i = 0; i < 20; i++) await p.checkpoint(gateway);
  await p.coordinator.attemptEnded(1);
  p.storage.intercept = (step, when) =>
    step.startsWith('delete') && when === 'before' ? new Promise<void>(() => undefined) : undefined;
  const ended = p.coordinator.end('finished');
  await p.clock.advance(60_000);
  await ended;
  expect(p.warnings.join()).toMatch(/took too long; the rest stays behind/);
});

test('what could not be closed is told whole', async () => {
  const p = new Process();
  await p.checkpoint(await p.launch());
  await p.coordinator.attemptEnded(1);
  p.storage.intercept = (step) => {
    if (step === 'release') throw new Error('no release');
  };
  p.storage.close = () => Promise.reject(new Error('no close'));
  await expect(p.coordinator.end('suspended')).rejects.toMatchObject({
    errors: [{ message: 'no release' }, { message: 'no close' }],
  });
});
