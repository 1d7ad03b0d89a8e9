import { createFsStorage } from '@weir/backend-fs';
import { SILENT, type FileSystem, type JobStorage } from '@weir/core/contracts';
import { CrashFileSystem, VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { FakeProcesses } from './fixtures/processes.js';

async function jobOn(fileSystem: FileSystem, checkpointsDir = '/c', job = 'orders'): Promise<JobStorage> {
  const storage = createFsStorage({
    checkpointsDir,
    fileSystem,
    processes: new FakeProcesses().start(),
    inlineThreshold: 0,
  });
  return storage.open({ job, clock: new VirtualClock(), logger: SILENT });
}
async function complete(job: JobStorage, id: number): Promise<string> {
  const location = await job.create(id);
  const blob = location.createBlob();
  await blob.write(Uint8Array.of(id));
  await location.publish(Buffer.from(JSON.stringify(await blob.finish())));
  return location.pointer;
}
async function firstByte(job: JobStorage, pointer: string): Promise<number | undefined> {
  const checkpoint = await job.resolve(pointer);
  const handle = JSON.parse(Buffer.from(await job.readMetadata(checkpoint)).toString());
  return (await job.read(checkpoint, handle))[0];
}
async function put(disk: CrashFileSystem, path: string): Promise<void> {
  await (await disk.open(path, 'create')).close();
}

describe('the options', () => {
  test('out of range are refused', () => {
    const wrong = [
      { inlineThreshold: -1 },
      { inlineThreshold: 1024 * 1024 + 1 },
      { inlineThreshold: 1.5 },
      { inlineThreshold: NaN },
      { writeBufferSize: 0 },
      { checkpointsDir: '' },
    ];
    for (const options of wrong) {
      expect(() => createFsStorage({ checkpointsDir: '/c', ...options })).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      );
    }
    createFsStorage({ checkpointsDir: '/c', inlineThreshold: 1024 * 1024 });
  });
});

describe('a directory of checkpoints', () => {
  test('is not touched before something is written or locked', async () => {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    await job.list();
    await job.readFinished();
    await job.clearFinished();
    await job.resolve('/c').catch(() => undefined);
    await job.close();
    expect(disk.paths()).toEqual([]);
  });

  test('is made at the next occasion if it could not be made at the first', async () => {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    disk.fail({ op: 'makeDirectory' }, 'EACCES');
    await expect(job.create(1)).rejects.toMatchObject({ code: 'STORAGE_FAILED', cause: { code: 'EACCES' } });
    expect((await job.create(1)).pointer).toBe('/c/orders/chk-1');
  });

  test('may lie in a folder that cannot be read', async () => {
    const disk = new CrashFileSystem();
    await disk.makeDirectory('/closed');
    await disk.makeDirectory('/closed/c');
    disk.fail({ op: 'syncDirectory', path: /^\/closed$/ }, 'EACCES', { times: Infinity });
    expect(await firstByte(await jobOn(disk, '/closed/c'), await complete(await jobOn(disk, '/closed/c'), 7))).toBe(7);
    disk.fail({ op: 'syncDirectory', path: /^\/closed\/c$/ }, 'EIO');
    await expect((await jobOn(disk, '/closed/c', 'other')).create(1)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
  });

  test('has the layout that is documented', async () => {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    const lock = await job.lock({ waitMs: 0, signal: new AbortController().signal });
    await complete(job, 7);
    const incremental = await job.create(8);
    await incremental.createSharedBlob?.('key').finish();
    await incremental.publish(Uint8Array.of(1));
    await job.writeFinished(Uint8Array.of(1));
    await lock.release();
    const paths = disk.paths().map((path) => path.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/, '<random>'));
    expect(paths.sort()).toEqual([
      '/c/',
      '/c/orders/',
      '/c/orders/_finished',
      '/c/orders/_lock/',
      '/c/orders/_lock/attempt-0.free',
      '/c/orders/chk-7/',
      '/c/orders/chk-7/_metadata',
      '/c/orders/chk-7/blob-<random>',
      '/c/orders/chk-8/',
      '/c/orders/chk-8/_metadata',
      '/c/orders/shared/',
      '/c/orders/shared/<random>',
    ]);
  });

  test('may hold other files, and whatever is named like a checkpoint is one, so that nothing is passed over', async () => {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    await complete(job, 9);
    await complete(job, 10);
    for (const name of ['chk-08', 'chk-8.tmp', 'chk-x', 'backup']) await disk.makeDirectory(`/c/orders/${name}`);
    for (const name of ['.DS_Store', 'chk-12', 'chk-08/_metadata']) await put(disk, `/c/orders/${name}`);
    await disk.makeDirectory('/c/orders/chk-11');
    await disk.makeDirectory('/c/orders/chk-11/_metadata');
    expect((await job.list()).map(({ id, complete: isComplete }) => [id, isComplete])).toEqual([
      [9, true],
      [10, true],
      [11, true],
      [12, true],
    ]);
  });

  test('can be moved, and copied, whole or one checkpoint of it', async () => {
    const disk = new CrashFileSystem();
    const pointer = await complete(await jobOn(disk), 7);
    await disk.makeDirectory('/moved');
    await disk.rename('/c/orders', '/moved/orders');
    const job = await jobOn(disk, '/moved');
    expect((await job.list()).map(({ id }) => id)).toEqual([7]);
    expect(await firstByte(job, '/moved/orders/chk-7')).toBe(7);
    await expect(job.resolve(pointer)).rejects.toMatchObject({ code: 'CHECKPOINT_NONE' });
    await disk.rename('/moved/orders/chk-7', '/backup');
    expect(await firstByte(job, '/backup')).toBe(7);
    expect(await job.resolve('/backup')).toEqual({ id: 0, pointer: '/backup', complete: true });
  });

  test('can be moved whole if its checkpoints share files; one of them alone misses them, and says which', async () => {
    const disk = new CrashFileSystem();
    const location = await (await jobOn(disk)).create(7);
    const blob = location.createSharedBlob?.('key');
    await blob?.write(Uint8Array.of(7));
    await location.publish(Buffer.from(JSON.stringify(await blob?.finish())));
    await disk.makeDirectory('/moved');
    await disk.rename('/c/orders', '/moved/orders');
    const job = await jobOn(disk, '/moved');
    expect(await firstByte(job, '/moved/orders/chk-7')).toBe(7);
    await disk.rename('/moved/orders/chk-7', '/backup');
    await expect(firstByte(job, '/backup')).rejects.toMatchObject({
      code: 'CHECKPOINT_UNREADABLE',
      message: expect.stringMatching(/\/shared\/[\da-f-]{36} cannot be read/),
    });
  });

  test.each(['../secret', '..', '.', '/etc/passwd', 'a/b', 'a\\b', '', 'a\0'])(
    'gives out no file that %j leads to: damaged or forged metadata reads nothing of the rest of the disk',
    async (path) => {
      const disk = new CrashFileSystem();
      const job = await jobOn(disk);
      await complete(job, 7);
      await put(disk, '/c/orders/secret');
      const file = { path, length: 0, algorithm: 'crc32', checksum: 0 } as const;
      const stored = await job.resolve('/c/orders/chk-7');
      const unreadable = {
        code: 'CHECKPOINT_UNREADABLE',
        message: expect.stringMatching(/checkpoint 7 of job orders/),
      };
      await expect(job.read(stored, { kind: 'blob', ...file })).rejects.toMatchObject(unreadable);
      await expect(job.read(stored, { kind: 'shared', key: 'key', ...file })).rejects.toMatchObject(unreadable);
      await expect(job.deleteShared?.(path)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    },
  );

  test('lists as shared files only what has the name of one', async () => {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    const location = await job.create(7);
    await location.createSharedBlob?.('key').finish();
    await put(disk, '/c/orders/shared/.nfs0001');
    await put(disk, '/c/orders/shared/README.txt');
    await disk.makeDirectory('/c/orders/shared/folder');
    expect(await job.listShared?.()).toEqual([...(location.sharedFiles ?? [])]);
  });

  test('serves two jobs that do the same at the same time', async () => {
    const disk = new CrashFileSystem();
    const [one, two] = [await jobOn(disk, '/c', 'one'), await jobOn(disk, '/c', 'two')];
    const signal = new AbortController().signal;
    const locks = await Promise.all([one, two].map((job) => job.lock({ waitMs: 0, signal })));
    await Promise.all([locks[0]!.recordAttempt(5), locks[1]!.recordAttempt(6)]);
    const pointers = await Promise.all([complete(one, 1), complete(two, 1)]);
    await one.writeFinished(Uint8Array.of(1));
    await one.delete(await one.resolve(pointers[0]));
    expect(await one.list()).toEqual([]);
    expect(await firstByte(two, pointers[1])).toBe(1);
    expect(await two.readFinished()).toBeUndefined();
    await locks[0]!.release();
    await locks[1]!.verify();
  });

  test('keeps a location that a dead attempt left apart from new ones', async () => {
    const disk = new CrashFileSystem();
    const dead = await (await jobOn(disk)).create(8);
    await dead.createBlob().write(new Uint8Array(10_000));
    const job = await jobOn(disk.kill());
    await expect(job.create(8)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect(await job.list()).toEqual([{ id: 8, pointer: '/c/orders/chk-8', complete: false }]);
  });
});

describe('the mark of a finished job', () => {
  test('stays as it was when it cannot be written, and no remains stay', async () => {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    await job.writeFinished(Uint8Array.of(1));
    const before = disk.paths();
    for (const op of ['open', 'write', 'sync', 'close', 'rename'] as const) {
      disk.fail({ op, path: /_finished/ }, 'ENOSPC');
      await expect(job.writeFinished(Uint8Array.of(2))).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
      expect(disk.paths()).toEqual(before);
      expect(await job.readFinished()).toEqual(Uint8Array.of(1));
    }
    disk.fail({ op: 'readFile' }, 'EIO');
    await expect(job.readFinished()).rejects.toMatchObject({ code: 'STORAGE_FAILED', cause: { code: 'EIO' } });
  });
});

describe('a pointer', () => {
  async function threeJobs(): Promise<{ readonly disk: CrashFileSystem; readonly job: JobStorage }> {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    for (const id of [7, 9, 10, 11]) await complete(job, id);
    await job.create(12);
    await complete(await jobOn(disk, '/c', 'payments'), 3);
    await disk.makeDirectory('/empty');
    await put(disk, '/file');
    return { disk, job };
  }

  test('may be the folder of a checkpoint or its _metadata file, with or without a slash at the end, or a URL', async () => {
    const { job } = await threeJobs();
    const chk = '/c/orders/chk-10';
    for (const pointer of [chk, `${chk}/`, `${chk}/_metadata`, '/c/./orders/../orders/chk-10', `file://${chk}`]) {
      expect(await job.resolve(pointer), pointer).toEqual({ id: 10, pointer: chk, complete: true });
    }
    const relative = `${'../'.repeat(process.cwd().split('/').length - 1)}c/orders/chk-10`;
    expect(await job.resolve(relative)).toEqual({ id: 10, pointer: chk, complete: true });
  });

  test('that leads to no completed checkpoint is an error that says why and what is near', async () => {
    const { job } = await threeJobs();
    const newest = '/c/orders/chk-11, /c/orders/chk-10, /c/orders/chk-9, ...';
    const wrong: [string, string, string | undefined][] = [
      ['/nowhere/chk-1', 'the path does not exist', undefined],
      ['/empty', 'the folder is empty', undefined],
      ['/file', 'it is no folder', undefined],
      ['/file/chk-1', 'the path does not exist', undefined],
      ['/c/orders/chk-99', 'the path does not exist', newest],
      ['/c/orders/chk-12', 'the folder is empty', newest],
      ['/c/orders', 'the folder has no _metadata', newest],
      ['/c', 'the folder has no _metadata', '/c/orders/chk-11, /c/payments/chk-3. Name one'],
    ];
    for (const [pointer, why, near] of wrong) {
      const error: Error = await job.resolve(pointer).then(
        () => expect.unreachable(pointer),
        (thrown: unknown) => thrown as Error,
      );
      expect(error).toMatchObject({ code: 'CHECKPOINT_NONE' });
      expect(error.message).toContain(why);
      if (near === undefined) expect(error.message).not.toContain('near it');
      else expect(error.message).toContain(near);
    }
  });

  test('that leads beside savepoints is told which of them are complete', async () => {
    const { job } = await threeJobs();
    const [first, second] = [await job.createSavepoint!(20, '/s'), await job.createSavepoint!(21, '/s')];
    await first.publish(Uint8Array.of(1));
    const blob = second.createBlob();
    await blob.write(new Uint8Array(100_000));
    await blob.finish();
    for (const pointer of ['/s', '/s/savepoint-orders-nowhere']) {
      await expect(job.resolve(pointer)).rejects.toThrow(`near it, newest first: ${first.pointer}. Name one`);
    }
    await expect(job.resolve(second.pointer)).rejects.toThrow('never completed, or is being deleted');
    expect(await job.resolve(first.pointer)).toEqual({ id: 0, pointer: first.pointer, complete: true });
  });

  test('to a checkpoint that was begun says that it was never completed', async () => {
    const { disk, job } = await threeJobs();
    await put(disk, '/c/orders/chk-12/blob');
    await expect(job.resolve('/c/orders/chk-12')).rejects.toThrow('never completed, or is being deleted');
  });

  test('that cannot be looked at is a failure of the storage, not a missing checkpoint', async () => {
    const { disk, job } = await threeJobs();
    disk.fail({ op: 'stat' }, 'EACCES');
    await expect(job.resolve('/c/orders/chk-10')).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      cause: { code: 'EACCES' },
    });
  });
});

describe('a blob that is not what was written', () => {
  test('is refused with an error that names file, checkpoint and difference', async () => {
    const disk = new CrashFileSystem();
    const job = await jobOn(disk);
    await complete(job, 7);
    const stored = await job.resolve('/c/orders/chk-7');
    const handle = JSON.parse(Buffer.from(await job.readMetadata(stored)).toString());
    const read = (changed: object): Promise<Uint8Array> => job.read(stored, { ...handle, ...changed });
    const where = `CHECKPOINT_UNREADABLE: State of checkpoint 7 of job orders is unreadable: /c/orders/chk-7/${String(handle.path)}`;
    await expect(read({ length: 2 })).rejects.toThrow(`${where} has 1 bytes instead of 2`);
    await expect(read({ length: 0 })).rejects.toThrow(`${where} has more than the 0 bytes that were written`);
    await expect(read({ checksum: 1 })).rejects.toThrow(/has the checksum [\da-f]{8} instead of 00000001\./);
    await expect(read({ path: 'none' })).rejects.toThrow('chk-7/none cannot be read: ENOENT');
    disk.fail({ op: 'read' }, 'EIO');
    await expect(read({})).rejects.toMatchObject({ code: 'STORAGE_FAILED', cause: { code: 'EIO' } });
    expect(await read({})).toEqual(Buffer.of(7));
    expect(disk.openHandles).toBe(0);
  });
});
