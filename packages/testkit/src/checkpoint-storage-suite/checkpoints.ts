import assert from 'node:assert/strict';
import { content, equalBytes, failsWith, find, listed, writeBlob, writeCheckpoint, type Check } from './fixture.js';

/** Creating, publishing, listing, discarding and deleting. */
export function checkpointChecks(check: Check): void {
  check('holds nothing before anything is written', async ({ open }) => {
    const job = await open();
    assert.deepEqual(await job.list(), []);
    assert.equal(await job.readFinished(), undefined);
  });

  check('calls a checkpoint complete from publish on, and not before', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    assert.equal(location.complete, false);
    await writeBlob(location, content(50_000));
    assert.deepEqual(await listed(job), ['1?']);
    await failsWith('CHECKPOINT_UNREADABLE', () => job.readMetadata(location));
    await location.publish(Uint8Array.of(1));
    assert.equal(location.complete, true);
    assert.deepEqual(await listed(job), ['1']);
    assert.equal((await find(job, 1)).pointer, location.pointer);
  });

  check('gives back the metadata as it was published, whatever its length', async ({ open }) => {
    const job = await open();
    for (const [index, length] of [0, 1, 1000, 300_000].entries()) {
      const location = await job.create(index + 1);
      await location.publish(content(length, index));
      equalBytes(await job.readMetadata(await find(job, index + 1)), content(length, index));
    }
  });

  check('keeps the bytes of the metadata, not the array', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const bytes = content(1000);
    await location.publish(bytes);
    bytes.fill(0);
    equalBytes(await job.readMetadata(location), content(1000));
  });

  check('lists checkpoints by number, not by text, the incomplete ones too', async ({ open }) => {
    const job = await open();
    for (const id of [10, 9, 100]) await writeCheckpoint(job, id);
    await job.create(11);
    assert.deepEqual(await listed(job), ['9', '10', '11?', '100']);
  });

  check('refuses an id that is taken, by a pending checkpoint or a complete one', async ({ open }) => {
    const job = await open();
    const pending = await job.create(1);
    await failsWith('STORAGE_FAILED', () => job.create(1));
    await pending.publish(Uint8Array.of(1));
    await failsWith('STORAGE_FAILED', () => job.create(1));
    assert.deepEqual(await listed(job), ['1']);
  });

  check('publishes once', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    await location.publish(Uint8Array.of(1));
    await failsWith('STORAGE_FAILED', () => location.publish(Uint8Array.of(2)));
    equalBytes(await job.readMetadata(location), Uint8Array.of(1));
  });

  check('forgets a discarded checkpoint, although blobs of it are still being written', async ({ open }) => {
    const job = await open();
    await writeCheckpoint(job, 1);
    const location = await job.create(2);
    await writeBlob(location, content(100_000));
    const [half, busy] = [location.createBlob(), location.createBlob()];
    await half.write(content(100_000));
    const writing = Promise.resolve(busy.write(content(100_000))).catch(() => undefined);
    await location.discard();
    await location.discard();
    await writing;
    assert.deepEqual(await listed(job), ['1']);
    await failsWith('STORAGE_FAILED', () => half.write(Uint8Array.of(1)));
    await failsWith('STORAGE_FAILED', () => half.finish());
    await failsWith('STORAGE_FAILED', () => location.createBlob());
    await failsWith('STORAGE_FAILED', () => location.publish(Uint8Array.of(2)));
    assert.deepEqual(await listed(job), ['1']);
  });

  check('deletes a checkpoint with all of it, and nothing else', async ({ open }) => {
    const job = await open();
    const handles = await writeCheckpoint(job, 1);
    const [kept] = await writeCheckpoint(job, 2);
    const first = await find(job, 1);
    await job.delete(first);
    assert.deepEqual(await listed(job), ['2']);
    await failsWith('CHECKPOINT_UNREADABLE', () => job.readMetadata(first));
    for (const handle of handles) {
      if (handle.kind === 'blob') await failsWith('CHECKPOINT_UNREADABLE', () => job.read(first, handle));
    }
    assert(kept);
    equalBytes(await job.read(await find(job, 2), kept), content(100_000, 2));
  });

  check('deletes and discards no checkpoint whose number only begins like that of another', async ({ open }) => {
    const job = await open();
    await writeCheckpoint(job, 1);
    const discarded = await job.create(2);
    for (const id of [10, 11, 20, 21]) await writeCheckpoint(job, id);
    const [handle] = await writeCheckpoint(job, 12);
    await job.delete(await find(job, 1));
    await discarded.discard();
    assert.deepEqual(await listed(job), ['10', '11', '12', '20', '21']);
    assert(handle);
    equalBytes(await job.read(await find(job, 12), handle), content(100_000, 12));
  });

  check('deletes what is gone, and what was never completed', async ({ open }) => {
    const job = await open();
    await writeCheckpoint(job, 1);
    const first = await find(job, 1);
    await writeBlob(await job.create(2), content(50_000));
    await job.delete(first);
    await job.delete(first);
    await job.delete(await find(job, 2));
    assert.deepEqual(await job.list(), []);
  });

  check('finds a completed checkpoint by its pointer', async ({ open }) => {
    const job = await open();
    const [handle] = await writeCheckpoint(job, 7);
    const { pointer } = await find(job, 7);
    const found = await job.resolve(pointer);
    assert.deepEqual({ ...found }, { id: 7, pointer: found.pointer, complete: true });
    equalBytes(await job.readMetadata(found), Uint8Array.of(7));
    assert(handle);
    equalBytes(await job.read(found, handle), content(100_000, 7));
  });

  check('finds no checkpoint where none was completed', async ({ open }) => {
    const job = await open();
    await failsWith('CHECKPOINT_NONE', () => job.resolve('no-such-checkpoint'));
    const pending = await job.create(1);
    await failsWith('CHECKPOINT_NONE', () => job.resolve(pending.pointer));
    await writeCheckpoint(job, 2);
    const deleted = await find(job, 2);
    await job.delete(deleted);
    await failsWith('CHECKPOINT_NONE', () => job.resolve(deleted.pointer));
  });

  check('keeps jobs apart, however alike their names are', async ({ open }) => {
    const names = [
      'a',
      'A',
      'a/b',
      'a%2fb',
      'a%2Fb',
      'a_b',
      '../a',
      '.',
      '..',
      'a ',
      'chk-1',
      'ä',
      '_lock',
      'a.',
      '.a',
    ];
    for (const [index, name] of names.entries()) {
      const job = await open(name);
      assert.deepEqual(await job.list(), [], `job ${name} is new`);
      assert.equal(await job.readFinished(), undefined, `job ${name} has not finished`);
      await writeCheckpoint(job, index + 1);
      await job.writeFinished(Uint8Array.of(index));
    }
    for (const [index, name] of names.entries()) {
      const job = await open(name);
      assert.deepEqual(await listed(job), [String(index + 1)], `job ${name}`);
      equalBytes((await job.readFinished()) ?? new Uint8Array(0), Uint8Array.of(index));
      await job.delete(await find(job, index + 1));
    }
  });
}
