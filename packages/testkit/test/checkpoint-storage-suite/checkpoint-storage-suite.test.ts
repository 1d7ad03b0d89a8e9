import assert from 'node:assert/strict';
import {
  checkpointStorageSuite,
  runSuite,
  type CheckpointStorageFixture,
  type CheckpointStorageSuiteOptions,
} from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { mapStorage, usersOf, type Flaw, type MapDisk, type MapSavepoints } from '../fixtures/map-storage.js';

function options(...flaws: readonly Flaw[]): CheckpointStorageSuiteOptions {
  return {
    capabilities: { durable: true, locks: true, savepoints: true, sharedFiles: true },
    create(): CheckpointStorageFixture {
      const disk: MapDisk = new Map();
      const savepoints: MapSavepoints = new Map();
      const first = { isAlive: true };
      return {
        storage: mapStorage(disk, first, flaws, savepoints),
        anotherProcess: () => mapStorage(disk, { isAlive: true }, flaws, savepoints),
        savepoints: usersOf(savepoints),
        killFirst: () => {
          first.isAlive = false;
        },
        damage({ id }, { kind, path }, damage) {
          for (const { checkpoints, shared } of disk.values()) {
            const blobs = kind === 'shared' ? shared : checkpoints.get(id)?.blobs;
            const bytes = blobs?.get(path);
            assert(blobs && bytes);
            if (damage === 'removed') blobs.delete(path);
            if (damage === 'changed') bytes[0]! ^= 1;
            if (damage === 'shortened') blobs.set(path, bytes.slice(1));
            if (damage === 'lengthened') blobs.set(path, Uint8Array.of(...bytes, 0));
          }
        },
      };
    },
  };
}

describe('a checkpoint storage that is right', () => {
  checkpointStorageSuite(test, options());
});

describe('the checkpoint storage suite finds a storage with the flaw', () => {
  const found: Record<Flaw, string> = {
    'complete too early': 'calls a checkpoint complete from publish on, and not before',
    'sorted as text': 'lists checkpoints by number, not by text, the incomplete ones too',
    'ids given twice': 'refuses an id that is taken, by a pending checkpoint or a complete one',
    'published twice': 'publishes once',
    'metadata not copied': 'keeps the bytes of the metadata, not the array',
    'chunks not copied': 'does not need the chunk any more once a write has settled',
    'blobs share a buffer': 'keeps blobs apart that are written at the same time',
    'checksum ignored': 'does not give out a blob that was changed, and says which it is',
    'length ignored': 'does not give out a blob that was shortened, and says which it is',
    'names ignore case': 'keeps jobs apart, however alike their names are',
    'deleted once only': 'deletes what is gone, and what was never completed',
    'deletes too much': 'deletes a checkpoint with all of it, and nothing else',
    'deletes by prefix': 'deletes and discards no checkpoint whose number only begins like that of another',
    'discards by prefix': 'deletes and discards no checkpoint whose number only begins like that of another',
    'discarded half': 'forgets a discarded checkpoint, although blobs of it are still being written',
    'resolves anything': 'finds no checkpoint where none was completed',
    'missing metadata is empty': 'deletes a checkpoint with all of it, and nothing else',
    'committed mark forgotten':
      'keeps the mark that the output of a checkpoint is committed, for that checkpoint alone',
    'committed mark by id': 'keeps the mark that the output of a savepoint is committed, also where it was moved to',
    'committed mark makes a checkpoint': 'marks nothing that is not there or not complete',
    'mark never cleared': 'keeps the mark of a finished job until it is cleared',
    'everybody gets the lock':
      'keeps a second owner out for as long as it is willing to wait, in this process and in another',
    'lock looked at too early': 'gives a lock that nobody has to one of many who want it',
    'dead owners are waited for': 'gives the lock of a dead process away, and lets the dead one do nothing more',
    'attempts forgotten': 'tells the next owner of the lock the latest attempt',
    'fences nobody': 'gives the lock of a dead process away, and lets the dead one do nothing more',
    'savepoints listed': 'puts a savepoint where it is told, out of the list of checkpoints',
    'savepoint complete too early': 'calls a savepoint complete from publish on, and not before',
    'savepoints share a place': 'makes a new place for each savepoint, also of the same id',
    'savepoints of one job only': 'reads a savepoint for a job of any name',
    'savepoints bound to their place': 'reads a savepoint that was moved, and finds nothing where it was',
    'savepoint discarded with its checkpoint': 'forgets a discarded savepoint, and nothing else',
    'deleted by id': 'deletes a savepoint that the job has claimed, and no checkpoint of the same id',
    'shared files inline': 'makes a shared file of bytes of any length, under the key it was given',
    'shared files deleted with their checkpoint':
      'reads a shared file for any checkpoint of the job, also when the one it was written for is deleted',
    'shared files named by key': 'makes two files of two blobs with one key',
    'shared files nobody made': 'tells which shared files were made for a checkpoint',
    'shared files never deleted': 'deletes a shared file by its name, and no other',
    'shared files outlive a discard':
      'removes the shared files of a discarded checkpoint, also a half written one, and no other',
    'shared files taken back': 'keeps the shared files of a complete checkpoint, whoever gives up their blobs',
    'shared files of savepoints': 'has no shared files for savepoints, which refer to nothing outside',
    impatient: 'keeps a second owner out for as long as it is willing to wait, in this process and in another',
  };
  for (const [flaw, title] of Object.entries(found)) {
    test(flaw, async () => {
      const { failed, passed } = await runSuite((t) => checkpointStorageSuite(t, options(flaw as Flaw)));
      expect(failed.map((failure) => failure.title)).toContain(title);
      expect(passed.length).toBeGreaterThan(0);
    });
  }

  test('that is not the same for another process', async () => {
    const own = options();
    const { failed } = await runSuite((t) =>
      checkpointStorageSuite(t, {
        ...own,
        create: async () => ({
          ...(await own.create()),
          anotherProcess: () => mapStorage(new Map(), { isAlive: true }),
        }),
      }),
    );
    expect(failed.map((failure) => failure.title)).toContain('shows another process what is complete and what is not');
  });

  test('that claims other capabilities', async () => {
    const { failed } = await runSuite((t) =>
      checkpointStorageSuite(t, { ...options(), capabilities: { durable: false, locks: false } }),
    );
    expect(failed.map((failure) => failure.title)).toEqual(['declares its capabilities']);
  });
});
