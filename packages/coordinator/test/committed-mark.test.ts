import { decodeMetadata, type JobStorage } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { isCommitted } from '../src/committed-mark.js';
import { Disk } from './disk.js';
import { deferred, historyOn, Process, stateOf, unconfirmed } from './harness.js';

/** What the sink of a new process gets to commit. */
async function leftToCommit(disk: Disk, restoreFrom: Parameters<Process['start']>[0] = 'auto'): Promise<number> {
  const p = new Process({ disk });
  await p.start(restoreFrom);
  const { restore } = await p.coordinator.beginAttempt();
  p.storage.die();
  return restore?.subtasks.get('out#0')?.[0]?.committables?.newest ?? 0;
}

describe('a checkpoint whose output is committed', () => {
  test('says so beside its metadata, and nothing of it is committed by who restores it', async () => {
    const disk = new Disk();
    await historyOn(disk, 2);
    expect(JSON.parse(Buffer.from(disk.folders.get(2)?.committed ?? []).toString())).toMatchObject({
      format: 'weir-committed',
      job: 'orders',
      checkpointId: 2,
    });
    expect(await leftToCommit(disk)).toBe(0);
  });

  test('does not need the sink any more that has made it', async () => {
    const disk = new Disk();
    await historyOn(disk, 1);
    const mark = disk.folders.get(1)?.committed;
    expect(await leftToCommit(disk)).toBe(0);
    const folder = disk.folders.get(1);
    if (folder !== undefined) folder.committed = undefined;
    expect(await leftToCommit(disk)).toBe(1);
    if (folder !== undefined) folder.committed = mark;
    expect(await leftToCommit(disk)).toBe(0);
  });

  test.each([
    ['says nothing', ''],
    ['is cut short', '{"format":"weir-committed","version":1,"job":"ord'],
    ['is that of another checkpoint', undefined],
  ])('is committed once more where the mark %s', async (_what, text) => {
    const disk = new Disk();
    await historyOn(disk, 2);
    const other = new Disk();
    await historyOn(other, 2);
    const folder = disk.folders.get(2);
    if (folder !== undefined)
      folder.committed = text === undefined ? other.folders.get(2)?.committed : Buffer.from(text);
    expect(await leftToCommit(disk)).toBe(2);
  });

  test('is committed once more if any bit of the mark has changed, or its end is missing', async () => {
    const disk = new Disk();
    await historyOn(disk, 1);
    const folder = disk.folders.get(1)!;
    const [stored, metadata] = [{ id: 1, pointer: 'disk/chk-1', complete: true }, decodeMetadata(folder.metadata!, '')];
    const counts = (bytes: Uint8Array): Promise<boolean> =>
      isCommitted(metadata, stored, {
        readCommitted: () => Promise.resolve(bytes),
      } as Partial<JobStorage> as JobStorage);
    const mark = folder.committed!;
    expect(await counts(mark)).toBe(true);
    for (let at = 0; at < mark.length; at++) {
      expect(await counts(mark.subarray(0, at))).toBe(false);
      for (let bit = 0; bit < 8; bit++) {
        const damaged = Uint8Array.from(mark);
        damaged[at]! ^= 1 << bit;
        expect(await counts(damaged), `bit ${String(bit)} of byte ${String(at)}`).toBe(false);
      }
    }
  });

  test('is committed once more if that could not be written, and the job goes on', async () => {
    const disk = new Disk();
    const p = new Process({ disk, intercept: unconfirmed });
    const gateway = await p.launch();
    await p.checkpoint(gateway);
    await p.checkpoint(gateway);
    expect(p.told('committed').map((event) => event.checkpointId)).toEqual([1, 2]);
    expect(p.failures).toEqual([]);
    p.storage.die();
    expect(await leftToCommit(disk)).toBe(2);
  });

  test('is not called so before the sinks say it', async () => {
    const disk = new Disk();
    const p = new Process({ disk });
    const gateway = await p.launch();
    const commits = deferred();
    gateway.commit = () => commits.promise;
    await p.checkpoint(gateway);
    expect(disk.folders.get(1)?.committed).toBeUndefined();
    p.storage.die();
    expect(await leftToCommit(disk)).toBe(1);
  });

  test('is being called so while its attempt ends: the next one does not begin before that', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const writing = deferred();
    p.storage.intercept = (step, when) =>
      step.startsWith('committed') && when === 'before' ? writing.promise : undefined;
    await p.checkpoint(gateway);
    const ended = p.coordinator.attemptEnded(gateway.attempt);
    expect(await stateOf(ended)).toBe('pending');
    writing.resolve();
    await ended;
    expect(p.disk.folders.get(1)?.committed).toBeDefined();
  });
});

describe('a savepoint', () => {
  test('that was stopped with is complete in itself, output included, wherever it is moved to', async () => {
    const disk = new Disk();
    const p = new Process({ disk });
    const pointer = await p.stop(await p.launch());
    expect(disk.savepoints.get(pointer)?.committed).toBeDefined();
    expect(await leftToCommit(disk)).toBe(0);
    disk.move(pointer, 'elsewhere');
    expect(await leftToCommit(disk, { path: 'elsewhere' })).toBe(0);
  });

  test('that the job ran on behind does not say so: its output is the next checkpoint’s', async () => {
    const disk = new Disk();
    const p = new Process({ disk });
    const pointer = await p.savepoint(await p.launch());
    p.storage.die();
    expect(disk.savepoints.get(pointer)?.committed).toBeUndefined();
    expect(await leftToCommit(disk, { path: pointer })).toBe(1);
  });
});
