import { SILENT, type BlobHandle, type CheckpointLocation, type JobStorage } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import {
  checkpointStorageSuite,
  faultyStorage,
  VirtualClock,
  type FaultyStorage,
  type StorageFault,
} from '../../src/index.js';
import { mapStorage, usersOf, type MapDisk, type MapSavepoints } from '../fixtures/map-storage.js';

function storageWith(...faults: readonly StorageFault[]): FaultyStorage {
  return faultyStorage(mapStorage(new Map(), { isAlive: true }), faults);
}
const open = (storage: FaultyStorage, clock = new VirtualClock()): Promise<JobStorage> =>
  storage.open({ job: 'job', clock, logger: SILENT });

async function blobOf(location: CheckpointLocation, ...chunks: readonly string[]): Promise<BlobHandle> {
  const blob = location.createBlob();
  for (const chunk of chunks) await blob.write(Buffer.from(chunk));
  return blob.finish();
}
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('a faulty storage without faults is the storage', () => {
  checkpointStorageSuite(test, {
    capabilities: { durable: true, locks: true, savepoints: true, sharedFiles: true },
    create() {
      const disk: MapDisk = new Map();
      const savepoints: MapSavepoints = new Map();
      const first = { isAlive: true };
      return {
        storage: faultyStorage(mapStorage(disk, first, [], savepoints), []),
        savepoints: usersOf(savepoints),
        anotherProcess: () => faultyStorage(mapStorage(disk, { isAlive: true }, [], savepoints), []),
        killFirst() {
          first.isAlive = false;
        },
      };
    },
  });
});

describe('a faulty storage', () => {
  test('fails the operation that was chosen, with the error that was chosen, and counts all of them', async () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const storage = storageWith({ on: 'write', nth: 3, does: { kind: 'throw', error: full } });
    const job = await open(storage);
    const location = await job.create(1);
    await blobOf(location, 'one', 'two');
    await expect(blobOf(location, 'three')).rejects.toBe(full);
    await blobOf(location, 'four');
    expect(storage.calls).toMatchObject({ create: 1, write: 4, publish: 0, read: 0, delete: 0, list: 0 });
  });

  test('fails every operation of a kind', async () => {
    const storage = storageWith({ on: 'publish', nth: 'all', does: { kind: 'throw' } });
    const job = await open(storage);
    await expect((await job.create(1)).publish(Buffer.from('m'))).rejects.toThrow('as planned');
    await expect((await job.create(2)).publish(Buffer.from('m'))).rejects.toThrow('as planned');
    expect((await job.list()).map(({ complete }) => complete)).toEqual([false, false]);
  });

  test('cuts what is written or read, without a word', async () => {
    const job = await open(
      storageWith(
        { on: 'write', nth: 2, does: { kind: 'truncate', bytes: 1 } },
        { on: 'publish', nth: 1, does: { kind: 'truncate', bytes: 4 } },
        { on: 'read', nth: 2, does: { kind: 'truncate', bytes: 0 } },
      ),
    );
    const location = await job.create(1);
    const blob = await blobOf(location, 'one', 'two');
    await location.publish(Buffer.from('metadata'));
    expect(text(await job.readMetadata(location))).toBe('meta');
    expect(text(await job.read(location, blob))).toBe('');
    expect(text(await job.read(location, blob))).toBe('onet');
  });

  test('does what was chosen and then says that it failed, so that nobody can know', async () => {
    const does = { kind: 'lose-answer' } as const;
    const job = await open(
      storageWith(
        { on: 'create', nth: 1, does },
        { on: 'publish', nth: 1, does },
        { on: 'delete', nth: 1, does },
        { on: 'list', nth: 1, does },
      ),
    );
    await expect(job.create(1)).rejects.toThrow('as planned');
    const location = await job.create(2);
    await expect(location.publish(Buffer.from('m'))).rejects.toThrow('as planned');
    await expect(job.list()).rejects.toThrow('as planned');
    expect((await job.list()).map(({ id, complete }) => [id, complete])).toEqual([
      [1, false],
      [2, true],
    ]);
    await expect(job.delete(location)).rejects.toThrow('as planned');
    expect((await job.list()).map(({ id }) => id)).toEqual([1]);
  });

  test('fails with shared files where it was chosen', async () => {
    const does = { kind: 'throw' } as const;
    const storage = storageWith(
      { on: 'list-shared', nth: 1, does },
      { on: 'delete-shared', nth: 1, does },
      { on: 'write', nth: 2, does },
    );
    const job = await open(storage);
    const location = await job.create(1);
    const blob = location.createSharedBlob?.('key');
    await blob?.write(Buffer.from('one'));
    await expect(blob?.write(Buffer.from('two'))).rejects.toThrow('as planned');
    await blob?.finish();
    const [path = ''] = location.sharedFiles ?? [];
    await expect(job.listShared?.()).rejects.toThrow('as planned');
    await expect(job.deleteShared?.(path)).rejects.toThrow('as planned');
    expect(await job.listShared?.()).toEqual([path]);
    expect(storage.calls).toMatchObject({ 'list-shared': 2, 'delete-shared': 1 });
  });

  test('is late with what was chosen, and deletes nothing before', async () => {
    const clock = new VirtualClock();
    const job = await open(storageWith({ on: 'delete', nth: 1, does: { kind: 'delay', ms: 5000 } }), clock);
    const location = await job.create(1);
    await location.publish(Buffer.from('m'));
    const deleted = job.delete(location);
    await clock.advance(4999);
    expect(await job.list()).toHaveLength(1);
    await clock.advance(1);
    await deleted;
    expect(await job.list()).toEqual([]);
  });
});
