import { createMemoryStorage } from '@weir/backend-memory';
import { SILENT, type CheckpointStorage, type JobStorage } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';

const NEVER = new AbortController().signal;

function open(storage: CheckpointStorage, job = 'orders'): Promise<JobStorage> {
  return storage.open({ job, clock: new VirtualClock(), logger: SILENT });
}

describe('the limit', () => {
  test('is 5 MiB for each part unless told otherwise', async () => {
    const location = await (await open(createMemoryStorage())).create(1);
    for (const [length, isTaken] of [
      [5 * 1024 * 1024, true],
      [5 * 1024 * 1024 + 1, false],
    ] as const) {
      const blob = location.createBlob();
      await blob.write(new Uint8Array(length));
      if (isTaken) expect(await blob.finish()).toMatchObject({ kind: 'blob', length });
      else await expect(blob.finish()).rejects.toThrow(/STATE_TOO_LARGE/);
    }
  });

  test('is told with the size, what it is of, and what to do', async () => {
    const blob = (await (await open(createMemoryStorage({ maxStateSize: 100 }))).create(7)).createBlob();
    for (let i = 0; i < 3; i++) await blob.write(new Uint8Array(60));
    await expect(blob.finish()).rejects.toThrow(
      'STATE_TOO_LARGE: One part of checkpoint 7 of job orders has 180 bytes, and the memory storage takes at most 100. ' +
        'Use fsBackend of @weir/backend-fs, or raise maxStateSize of memoryBackend.',
    );
  });
});

describe('what is stored', () => {
  test('is found by the next run of the job, from the same storage and from no other', async () => {
    const storage = createMemoryStorage();
    const first = await open(storage);
    await (await first.create(3)).publish(Uint8Array.of(1, 2));
    await first.close();
    const [found] = await (await open(storage)).list();
    expect(found).toEqual({ id: 3, pointer: 'memory:orders/chk-3', complete: true });
    expect(await (await open(storage)).readMetadata(found!)).toEqual(Uint8Array.of(1, 2));
    expect(await (await open(createMemoryStorage())).list()).toEqual([]);
    expect(await (await open(storage, 'payments')).list()).toEqual([]);
  });

  test('cannot be changed through what was read', async () => {
    const job = await open(createMemoryStorage());
    const location = await job.create(1);
    const handles = [];
    for (const length of [10, 100_000]) {
      const blob = location.createBlob();
      await blob.write(new Uint8Array(length).fill(7));
      handles.push(await blob.finish());
    }
    await location.publish(Uint8Array.of(7));
    for (const handle of handles) (await job.read(location, handle)).fill(0);
    (await job.readMetadata(location)).fill(0);
    for (const handle of handles) expect(new Set(await job.read(location, handle))).toEqual(new Set([7]));
    expect(await job.readMetadata(location)).toEqual(Uint8Array.of(7));
  });

  test('is found by its folder or by its metadata', async () => {
    const job = await open(createMemoryStorage(), 'a/b');
    const location = await job.create(1);
    await location.publish(Uint8Array.of(1));
    for (const end of ['', '/', '/_metadata']) expect((await job.resolve(location.pointer + end)).id).toBe(1);
  });

  test('is not taken for the blob of another checkpoint', async () => {
    const job = await open(createMemoryStorage());
    const [one, two] = [await job.create(1), await job.create(2)];
    const handles = [];
    for (const location of [one, two]) {
      const blob = location.createBlob();
      await blob.write(new Uint8Array(30_000).fill(location.id));
      handles.push(await blob.finish());
      await location.publish(Uint8Array.of(0));
    }
    await expect(job.read(one, handles[1]!)).rejects.toThrow(
      /CHECKPOINT_UNREADABLE: blob-1 of checkpoint 1 of job orders/,
    );
  });

  test('is not discarded once it is complete, nor after its id was given again', async () => {
    const job = await open(createMemoryStorage());
    const location = await job.create(1);
    await location.publish(Uint8Array.of(1));
    await expect(location.discard()).rejects.toThrow(/STORAGE_FAILED/);
    const pending = await job.create(2);
    await pending.discard();
    await job.create(2);
    await pending.discard();
    expect(await job.list()).toHaveLength(2);
  });
});

test('a new run takes the lock at once, and the former learns it when it next asks', async () => {
  const storage = createMemoryStorage();
  const former = await (await open(storage)).lock({ waitMs: 0, signal: NEVER });
  await former.recordAttempt(2);
  const present = await (await open(storage)).lock({ waitMs: 10_000, signal: NEVER });
  expect(present.previousAttempt).toBe(2);
  await expect(former.verify()).rejects.toThrow(/STORAGE_FENCED/);
  await expect(former.recordAttempt(3)).rejects.toThrow(/STORAGE_FENCED/);
  await former.release();
  await present.verify();
  await expect((await open(storage)).lock({ waitMs: 0, signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
    'no',
  );
});
