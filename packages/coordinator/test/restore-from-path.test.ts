import { decodeMetadata, type CheckpointSettings, type PlanDescription } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { Process, historyOn, type ProcessOptions } from './harness.js';
import { planOf } from './plan.js';

/** A disk on which a job has died that had one checkpoint, one savepoint, and `after` checkpoints behind that; and where the savepoint is. */
async function withSavepoint(after: number, options: ProcessOptions = {}): Promise<{ disk: Disk; path: string }> {
  const disk = new Disk();
  const p = new Process({ disk, ...options });
  const gateway = await p.launch();
  await p.checkpoint(gateway);
  const path = await p.savepoint(gateway);
  for (let i = 0; i < after; i++) await p.checkpoint(gateway);
  p.storage.die();
  return { disk, path };
}

describe('which of two is the later', () => {
  test('a savepoint newer than every checkpoint repeats nothing, and begins a new lineage', async () => {
    const { disk, path } = await withSavepoint(0);
    const p = new Process({ disk });
    const { lineage } = (await p.start({ path })) as { lineage: string };
    expect(p.warnings).toEqual([]);
    await p.checkpoint(await p.run());
    // What belongs to the history before is not this run's to remove.
    expect(disk.complete).toEqual([1, 3]);
    p.storage.die();
    const { lineage: before } = decodeMetadata(disk.folders.get(1)?.metadata ?? new Uint8Array(), 'chk-1');
    expect(lineage).not.toBe(before);
    expect(await new Process({ disk }).start('auto')).toMatchObject({ lineage, checkpointId: 3 });
  });

  test('a savepoint that a checkpoint has left behind is refused, unless repetition is accepted', async () => {
    const { disk, path } = await withSavepoint(1);
    await expect(new Process({ disk }).start({ path })).rejects.toThrow(/^CHECKPOINT_NOT_NEWEST.*checkpoint 3/);
    const p = new Process({ disk, settings: { allowDuplicates: true } });
    expect(await p.start({ path })).toMatchObject({ checkpointId: 2 });
    expect(p.warnings[0]).toMatch(/goes back to checkpoint 2, behind checkpoint 3/);
  });

  test('the number alone says nothing: an attempt that had not seen the savepoint may have gone on with the same ids', async () => {
    const { disk, path } = await withSavepoint(0);
    const other = new Process({ disk });
    // From checkpoint 1, so that its first checkpoint is another 2.
    expect(await other.checkpoint(await other.launch())).toBe(2);
    other.storage.die();
    await expect(new Process({ disk }).start({ path })).rejects.toThrow('CHECKPOINT_NOT_NEWEST');
  });

  test('of a checkpoint that cannot be read nothing is known, so it counts as the later, and the error says why', async () => {
    const { disk, path } = await withSavepoint(0);
    disk.damage(1);
    await expect(new Process({ disk }).start({ path })).rejects.toMatchObject({
      code: 'CHECKPOINT_NOT_NEWEST',
      message: expect.stringMatching(/checkpoint 1 cannot be read: CHECKPOINT_UNREADABLE/) as string,
      cause: expect.objectContaining({ code: 'CHECKPOINT_UNREADABLE' }) as unknown,
    });
  });
});

describe('whose it is', () => {
  test('no-claim: it is never removed, also at the end of the job', async () => {
    const { disk, path } = await withSavepoint(0);
    const p = new Process({ disk });
    const gateway = await p.launch({ path });
    await p.checkpoint(gateway);
    await p.coordinator.attemptEnded(gateway.attempt);
    await p.coordinator.end('finished');
    expect([...disk.savepoints.keys()]).toEqual([path]);
  });

  test('claim: the job removes it once a checkpoint of its own is complete, not before', async () => {
    const { disk, path } = await withSavepoint(0);
    const p = new Process({ disk, settings: { claimMode: 'claim' } });
    const gateway = await p.launch({ path });
    await p.clock.settle();
    expect([...disk.savepoints.keys()]).toEqual([path]);
    await p.checkpoint(gateway);
    expect(disk.savepoints.size).toBe(0);
  });

  test('claim: what the job was stopped with is found again after a crash that comes before the first checkpoint', async () => {
    const disk = new Disk();
    const first = new Process({ disk });
    const path = await first.stop(await first.launch());
    const second = new Process({ disk, settings: { claimMode: 'claim' } });
    await second.launch({ path });
    await second.clock.settle();
    second.storage.die();
    expect(await new Process({ disk }).start('auto')).toMatchObject({ kind: 'restore', pointer: path });
  });

  test.each([
    ['delete-on-cancellation', 'cancelled', false],
    ['retain-on-cancellation', 'cancelled', true],
    ['delete-on-cancellation', 'failed', true],
  ] as const)('claim: at the end it goes or stays as a checkpoint would: %s, %s', async (retention, outcome, stays) => {
    const { disk, path } = await withSavepoint(0);
    const p = new Process({ disk, settings: { claimMode: 'claim', retention } });
    const gateway = await p.launch({ path });
    await gateway.commit(2);
    await p.coordinator.attemptEnded(gateway.attempt);
    await p.coordinator.end(outcome);
    expect(disk.savepoints.has(path)).toBe(stays);
  });

  test('testTriggeringFullSnapshotAfterJobmasterFailover: what is not claimed is not needed by any checkpoint after it', async () => {
    const { disk, path } = await withSavepoint(0);
    const p = new Process({ disk });
    await p.launch({ path });
    p.storage.die();
    const next = new Process({ disk });
    await next.checkpoint(await next.launch({ path }));
    next.storage.die();
    disk.savepoints.clear();
    const last = new Process({ disk });
    expect(await last.start('auto')).toMatchObject({ kind: 'restore', checkpointId: 3 });
    await expect(last.run()).resolves.toBeDefined();
  });

  test('until there is a checkpoint, every attempt goes back to the savepoint the job started from', async () => {
    const { disk, path } = await withSavepoint(0);
    for (const settings of [{}, { claimMode: 'claim' } as const]) {
      const p = new Process({ disk, settings });
      await p.start({ path });
      for (let attempt = 0; attempt < 2; attempt++) {
        const gateway = await p.run();
        expect(p.told('restored').at(-1)).toMatchObject({ checkpointId: 2, pointer: path });
        const savepoint = await p.savepoint(gateway);
        await p.coordinator.attemptEnded(gateway.attempt);
        expect(disk.savepoints.has(savepoint)).toBe(true);
      }
      p.storage.die();
    }
  });
});

describe('what no operator claims', () => {
  const smaller = planOf();
  const [numbers, out] = smaller.stages;
  const without = (uid: string): PlanDescription => {
    const stages = [numbers!, out!].map((stage) =>
      stage.id === uid ? { ...stage, operators: [{ ...stage.operators[0]!, uid: 'renamed' }] } : stage,
    );
    return { ...smaller, stages };
  };
  const BOTH = { allowNonRestoredState: true, allowNonRestoredPositionsAndOutput: true };

  test.each<[string, string, Partial<CheckpointSettings>, RegExp]>([
    [
      'state',
      'numbers',
      {},
      /has state of operator numbers, and the job has no such operator.*set allowNonRestoredState/,
    ],
    [
      'state, where only the other permission is given',
      'numbers',
      { allowNonRestoredPositionsAndOutput: true },
      /set allowNonRestoredState to leave state behind\.$/,
    ],
    [
      'output, where state may be left behind',
      'out',
      { allowNonRestoredState: true },
      /has unpublished output of operator out.*set allowNonRestoredPositionsAndOutput to leave unpublished output behind, which loses or repeats records\.$/,
    ],
  ])('is an error: %s', async (_what, uid, settings, message) => {
    const { disk, path } = await withSavepoint(0);
    const started = new Process({ disk, plan: without(uid), settings }).start({ path });
    await expect(started).rejects.toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE', recoverable: false });
    await expect(new Process({ disk, plan: without(uid), settings }).start({ path })).rejects.toThrow(message);
  });

  test.each<[string, Partial<CheckpointSettings>, string, string]>([
    ['numbers', { allowNonRestoredState: true }, 'state of numbers', 'out#0'],
    ['out', { allowNonRestoredPositionsAndOutput: true }, 'unpublished output of out', 'numbers#0'],
    ['out', BOTH, 'unpublished output of out', 'numbers#0'],
  ])('is left behind where that is allowed, and said; the others get theirs: %s', async (uid, settings, what, left) => {
    const { disk, path } = await withSavepoint(0);
    const p = new Process({ disk, plan: without(uid), settings });
    await p.start({ path });
    expect(p.warnings).toEqual([`Job orders leaves ${what} behind, which no operator claims.`]);
    const { restore } = await p.coordinator.beginAttempt();
    expect([...(restore?.subtasks.keys() ?? [])]).toEqual([left]);
  });

  test('of an operator without state nothing is said', async () => {
    const { disk, path } = await withSavepoint(0);
    const p = new Process({ disk, settings: BOTH });
    await p.start({ path });
    expect(p.warnings).toEqual([]);
  });
});

test('a retained checkpoint of another directory is restored by its path, too', async () => {
  const backup = new Disk('backup');
  await historyOn(backup, 2);
  const disk = new Disk();
  disk.elsewhere.push(backup);
  const p = new Process({ disk });
  expect(await p.start({ path: 'backup/chk-2' })).toMatchObject({ kind: 'restore', checkpointId: 2 });
  expect(await p.checkpoint(await p.run())).toBe(3);
  expect(backup.complete).toEqual([2]);
});
