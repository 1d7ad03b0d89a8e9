import assert from 'node:assert/strict';
import type { BlobHandle, CheckpointId, CheckpointLocation, JobStorage, StoredCheckpoint } from '@weir/core/contracts';
import {
  content,
  equalBytes,
  failsWith,
  find,
  listed,
  writeBlob,
  writeCheckpoint,
  type Check,
  type CheckpointStorageFixture,
} from './fixture.js';

/** Savepoints: checkpoints that belong to the user, in a directory of the user's. */
export function savepointChecks(check: Check): void {
  check('puts a savepoint where it is told, out of the list of checkpoints', async ({ fixture, open }) => {
    const job = await open();
    await writeCheckpoint(job, 1);
    const { pointer, handle } = await writeSavepoint(job, directoryOf(fixture), 2);
    assert.deepEqual(await listed(job), ['1']);
    await expectReadable(job, await job.resolve(pointer), handle, 2);
    await writeCheckpoint(job, 2);
    assert.deepEqual(await listed(job), ['1', '2']);
  });

  check('calls a savepoint complete from publish on, and not before', async ({ fixture, open }) => {
    const job = await open();
    const location = await create(job, directoryOf(fixture), 1);
    assert.equal(location.complete, false);
    await writeBlob(location, content(50_000));
    await failsWith('CHECKPOINT_NONE', () => job.resolve(location.pointer));
    await location.publish(Uint8Array.of(1));
    assert.equal(location.complete, true);
    assert.equal((await job.resolve(location.pointer)).complete, true);
    await failsWith('STORAGE_FAILED', () => location.publish(Uint8Array.of(2)));
  });

  check('makes a new place for each savepoint, also of the same id', async ({ fixture, open }) => {
    const job = await open();
    const first = await writeSavepoint(job, directoryOf(fixture), 7);
    const second = await writeSavepoint(job, directoryOf(fixture), 7, 8);
    assert.notEqual(first.pointer, second.pointer);
    await expectReadable(job, await job.resolve(first.pointer), first.handle, 7);
    await expectReadable(job, await job.resolve(second.pointer), second.handle, 8);
  });

  check('reads a savepoint for a job of any name', async ({ fixture, open }) => {
    const { pointer, handle } = await writeSavepoint(await open(), directoryOf(fixture), 3);
    const other = await open('another');
    await expectReadable(other, await other.resolve(pointer), handle, 3);
    assert.deepEqual(await other.list(), []);
  });

  check('reads a savepoint that was moved, and finds nothing where it was', async ({ fixture, open }) => {
    const job = await open();
    const { pointer, handle } = await writeSavepoint(job, directoryOf(fixture), 4);
    const moved = await fixture.savepoints?.move?.(pointer);
    if (moved === undefined) return;
    await expectReadable(job, await job.resolve(moved), handle, 4);
    await failsWith('CHECKPOINT_NONE', () => job.resolve(pointer));
  });

  check(
    'keeps the mark that the output of a savepoint is committed, also where it was moved to',
    async ({ fixture, open }) => {
      const job = await open();
      await writeCheckpoint(job, 4);
      const { pointer } = await writeSavepoint(job, directoryOf(fixture), 4);
      const savepoint = { ...(await job.resolve(pointer)), id: 4 };
      await job.writeCommitted(savepoint, content(7));
      equalBytes((await job.readCommitted(savepoint)) ?? new Uint8Array(0), content(7));
      assert.equal(await job.readCommitted(await find(job, 4)), undefined);
      const moved = await fixture.savepoints?.move?.(pointer);
      if (moved === undefined) return;
      equalBytes((await job.readCommitted(await job.resolve(moved))) ?? new Uint8Array(0), content(7));
    },
  );

  check('forgets a discarded savepoint, and nothing else', async ({ fixture, open }) => {
    const job = await open();
    await writeCheckpoint(job, 5);
    const kept = await writeSavepoint(job, directoryOf(fixture), 5);
    const location = await create(job, directoryOf(fixture), 5);
    await writeBlob(location, content(50_000));
    await location.discard();
    await location.discard();
    await failsWith('STORAGE_FAILED', () => location.publish(Uint8Array.of(5)));
    await failsWith('CHECKPOINT_NONE', () => job.resolve(location.pointer));
    assert.deepEqual(await listed(job), ['5']);
    await expectReadable(job, await job.resolve(kept.pointer), kept.handle, 5);
  });

  check('deletes a savepoint that the job has claimed, and no checkpoint of the same id', async ({ fixture, open }) => {
    const job = await open();
    const [checkpoint] = await writeCheckpoint(job, 6);
    const claimed = await writeSavepoint(job, directoryOf(fixture), 6);
    const kept = await writeSavepoint(job, directoryOf(fixture), 6);
    const stored = { ...(await job.resolve(claimed.pointer)), id: 6 };
    await job.delete(stored);
    await job.delete(stored);
    await failsWith('CHECKPOINT_NONE', () => job.resolve(claimed.pointer));
    await expectReadable(job, await job.resolve(kept.pointer), kept.handle, 6);
    await expectReadable(job, await find(job, 6), checkpoint, 6);
  });
}

function directoryOf({ savepoints }: CheckpointStorageFixture): string {
  assert(savepoints, 'the fixture needs `savepoints` for a storage that has them');
  return savepoints.directory;
}

async function create(job: JobStorage, directory: string, id: CheckpointId): Promise<CheckpointLocation> {
  const location = await job.createSavepoint?.(id, directory);
  assert(location, 'a storage that has savepoints can create them');
  return location;
}

/** A complete savepoint with one blob that tells it from others; its metadata is one byte. */
async function writeSavepoint(
  job: JobStorage,
  directory: string,
  id: CheckpointId,
  seed: number = id,
): Promise<{ readonly pointer: string; readonly handle: BlobHandle }> {
  const location = await create(job, directory, id);
  const handle = await writeBlob(location, content(100_000, seed));
  await location.publish(Uint8Array.of(seed));
  return { pointer: location.pointer, handle };
}

async function expectReadable(
  job: JobStorage,
  stored: StoredCheckpoint,
  handle: BlobHandle | undefined,
  seed: number,
): Promise<void> {
  equalBytes(await job.readMetadata(stored), Uint8Array.of(seed));
  assert(handle);
  equalBytes(await job.read(stored, handle), content(100_000, seed));
}
