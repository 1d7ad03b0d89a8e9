import assert from 'node:assert/strict';
import type { BlobHandle, CheckpointLocation, JobStorage, SharedBlob } from '@weir/core/contracts';
import { content, equalBytes, failsWith, find, listed, writeBlob, type Check, type Damage } from './fixture.js';

/** Files that several checkpoints of a job are made of. */
export function sharedFileChecks(check: Check): void {
  check('makes a shared file of bytes of any length, under the key it was given', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const handles: SharedBlob[] = [];
    for (const length of [0, 1, 300_000]) {
      handles.push(await writeShared(location, `key/${String(length)}`, content(length)));
    }
    await location.publish(Uint8Array.of(1));
    for (const [index, length] of [0, 1, 300_000].entries()) {
      const handle = handles[index]!;
      assert.equal(handle.key, `key/${String(length)}`);
      equalBytes(await job.read(await find(job, 1), structuredClone(handle)), content(length));
    }
    assert.deepEqual(await names(job), pathsOf(handles));
  });

  check(
    'reads a shared file for any checkpoint of the job, also when the one it was written for is deleted',
    async ({ open }) => {
      const job = await open();
      const first = await job.create(1);
      const handle = await writeShared(first, 'a', content(100_000));
      await first.publish(Uint8Array.of(1));
      await (await job.create(2)).publish(Uint8Array.of(2));
      await job.delete(await find(job, 1));
      equalBytes(await job.read(await find(job, 2), handle), content(100_000));
      assert.deepEqual(await names(job), [handle.path]);
    },
  );

  check('makes two files of two blobs with one key', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const handles = [
      await writeShared(location, 'a', content(10, 1)),
      await writeShared(location, 'a', content(10, 2)),
    ];
    await location.publish(Uint8Array.of(1));
    assert.notEqual(handles[0]?.path, handles[1]?.path);
    for (const [index, handle] of handles.entries())
      equalBytes(await job.read(location, handle), content(10, index + 1));
  });

  check('tells which shared files were made for a checkpoint', async ({ open }) => {
    const job = await open();
    const [one, two] = [await job.create(1), await job.create(2)];
    const first = await writeShared(one, 'a', content(10));
    const others = [await writeShared(two, 'b', content(10)), await writeShared(two, 'c', content(10))];
    assert.deepEqual([...(one.sharedFiles ?? [])], [first.path]);
    assert.deepEqual([...(two.sharedFiles ?? [])].sort(), pathsOf(others));
  });

  check('deletes a shared file by its name, and no other', async ({ open }) => {
    const job = await open();
    assert.deepEqual(await names(job), []);
    await job.deleteShared?.('nothing');
    const location = await job.create(1);
    const [first, second] = [
      await writeShared(location, 'a', content(1000, 1)),
      await writeShared(location, 'b', content(1000, 2)),
    ];
    await location.publish(Uint8Array.of(1));
    await job.deleteShared?.(first.path);
    await job.deleteShared?.(first.path);
    assert.deepEqual(await names(job), [second.path]);
    await failsWith('CHECKPOINT_UNREADABLE', () => job.read(location, first));
    equalBytes(await job.read(location, second), content(1000, 2));
  });

  check(
    'removes the shared files of a discarded checkpoint, also a half written one, and no other',
    async ({ open }) => {
      const job = await open();
      const kept = await job.create(1);
      const handle = await writeShared(kept, 'a', content(100_000));
      await kept.publish(Uint8Array.of(1));
      const location = await job.create(2);
      await writeShared(location, 'b', content(100_000));
      const [opened, half] = [shared(location, 'c'), shared(location, 'd')];
      await half.write(content(100_000));
      await location.discard();
      await location.discard();
      await failsWith('STORAGE_FAILED', () => opened.finish());
      await failsWith('STORAGE_FAILED', () => half.finish());
      await failsWith('STORAGE_FAILED', () => shared(location, 'e'));
      assert.deepEqual(await names(job), [handle.path]);
      equalBytes(await job.read(await find(job, 1), handle), content(100_000));
    },
  );

  check('completes a checkpoint without the shared files that were aborted', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const [opened, written, finished] = [shared(location, 'a'), shared(location, 'b'), shared(location, 'c')];
    await written.write(content(100_000));
    await finished.write(content(100_000));
    await finished.finish();
    for (const blob of [opened, written, finished]) {
      await blob.abort();
      await blob.abort();
    }
    await location.publish(Uint8Array.of(1));
    assert.deepEqual(await listed(job), ['1']);
    assert.deepEqual(await names(job), []);
  });

  check('keeps the shared files of a complete checkpoint, whoever gives up their blobs', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const blob = shared(location, 'a');
    await blob.write(content(1000));
    const handle = await blob.finish();
    await location.publish(Uint8Array.of(1));
    await blob.abort();
    equalBytes(await job.read(location, handle), content(1000));
  });

  check('keeps the shared files of jobs apart', async ({ open }) => {
    const [orders, payments] = [await open('orders'), await open('payments')];
    const location = await orders.create(1);
    const handle = await writeShared(location, 'a', content(1000));
    await location.publish(Uint8Array.of(1));
    assert.deepEqual(await names(payments), []);
    await payments.deleteShared?.(handle.path);
    equalBytes(await orders.read(location, handle), content(1000));
  });

  for (const damage of ['changed', 'shortened', 'lengthened', 'removed'] as const satisfies readonly Damage[]) {
    check(`does not give out a shared file that was ${damage}, and says which it is`, async ({ fixture, open }) => {
      if (fixture.damage === undefined) return;
      const job = await open();
      const location = await job.create(42);
      const handle = await writeShared(location, 'a', content(1000));
      await location.publish(Uint8Array.of(42));
      const stored = await find(job, 42);
      await fixture.damage(stored, handle, damage);
      const error = await failsWith('CHECKPOINT_UNREADABLE', () => job.read(stored, handle));
      assert.match(error.message, /\b42\b/, 'the message names the checkpoint');
      assert(error.message.includes(handle.path), 'the message names the file');
    });
  }

  check('gives back any part of a shared file, if it reads parts', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const handle = await writeShared(location, 'a', content(100_000));
    await location.publish(Uint8Array.of(1));
    if (job.readPart === undefined) return;
    const bytes = await job.readPart(await find(job, 1), handle, { offset: 4095, length: 4098 });
    equalBytes(bytes, content(100_000).subarray(4095, 4095 + 4098));
    await failsWith('CHECKPOINT_UNREADABLE', async () =>
      job.readPart?.(location, handle, { offset: 90_000, length: 10_001 }),
    );
  });
}

/** Where there are savepoints, too. */
export function unsharedSavepointCheck(check: Check): void {
  check('has no shared files for savepoints, which refer to nothing outside', async ({ fixture, open }) => {
    const location = await (await open()).createSavepoint?.(1, fixture.savepoints?.directory ?? '');
    assert(location, 'a storage that has savepoints can create them');
    assert(!('createSharedBlob' in location) || !Reflect.get(location, 'createSharedBlob'), 'it makes none');
  });
}

/** Where another process sees what is stored. */
export function durableSharedFileCheck(check: Check): void {
  check('shows another process every shared file, those of a pending checkpoint too', async (bench) => {
    const job = await bench.open();
    const [one, two] = [await job.create(1), await job.create(2)];
    const handles = [await writeShared(one, 'a', content(1000)), await writeShared(two, 'b', content(1000))];
    await one.publish(Uint8Array.of(1));
    const seen = await bench.openInAnotherProcess();
    assert.deepEqual(await names(seen), pathsOf(handles));
    equalBytes(await seen.read(await find(seen, 1), handles[0]!), content(1000));
    await seen.deleteShared?.(handles[1]!.path);
    assert.deepEqual(await names(job), [handles[0]!.path]);
  });
}

function shared(location: CheckpointLocation, key: string): ReturnType<CheckpointLocation['createBlob']> {
  const blob = location.createSharedBlob?.(key);
  assert(blob, 'a storage that has shared files can create them');
  return blob;
}

async function writeShared(location: CheckpointLocation, key: string, bytes: Uint8Array): Promise<SharedBlob> {
  const handle: BlobHandle = await writeBlob({ createBlob: () => shared(location, key) }, bytes);
  assert(handle.kind === 'shared', `the handle of a shared file is ${handle.kind}`);
  return handle;
}

async function names(job: JobStorage): Promise<readonly string[]> {
  const found = await job.listShared?.();
  assert(found, 'a storage that has shared files lists them');
  return [...found].sort();
}

function pathsOf(handles: readonly SharedBlob[]): readonly string[] {
  return handles.map(({ path }) => path).sort();
}
