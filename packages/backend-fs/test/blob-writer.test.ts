import { createFsStorage, type FsStorageOptions } from '@weir/backend-fs';
import { SILENT, type CheckpointLocation } from '@weir/core/contracts';
import { CrashFileSystem, VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { countedIds } from './fixtures/processes.js';

const FOLDER = '/c/orders/chk-1';

async function locationOn(disk: CrashFileSystem, options: Partial<FsStorageOptions> = {}): Promise<CheckpointLocation> {
  const storage = createFsStorage({ checkpointsDir: '/c', fileSystem: disk, newId: countedIds('id'), ...options });
  const job = await storage.open({ job: 'orders', clock: new VirtualClock(), logger: SILENT });
  return job.create(1);
}
const filesOf = (disk: CrashFileSystem): string[] =>
  disk.paths().filter((path) => path.startsWith(FOLDER) && path !== `${FOLDER}/`);

describe('a blob', () => {
  test('of up to the inline threshold becomes part of the metadata, in however many writes, and makes no file', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk);
    for (const chunks of [[], [0], [20_480], [20_000, 480], Array<number>(2048).fill(10)]) {
      const blob = location.createBlob();
      for (const length of chunks) expect(blob.write(new Uint8Array(length).fill(7))).toBeUndefined();
      const length = chunks.reduce((sum, n) => sum + n, 0);
      expect(await blob.finish()).toEqual({ kind: 'inline', bytes: new Uint8Array(length).fill(7) });
    }
    expect(filesOf(disk)).toEqual([]);
  });

  test('of one byte more becomes a file, named relative to the checkpoint', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk);
    for (const chunks of [[20_481], [20_480, 1]]) {
      const blob = location.createBlob();
      for (const length of chunks) await blob.write(new Uint8Array(length));
      expect(await blob.finish()).toMatchObject({
        kind: 'blob',
        path: expect.stringMatching(/^blob-id-\d+$/),
        length: 20_481,
      });
    }
    expect(filesOf(disk).length).toBe(2);
    expect(disk.openHandles).toBe(0);
  });

  test('is a file also when it fits into a write buffer that is larger than the threshold', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk, { inlineThreshold: 0, writeBufferSize: 1000 });
    const blob = location.createBlob();
    expect(blob.write(new Uint8Array(1000))).toBeUndefined();
    expect(filesOf(disk)).toEqual([]);
    expect(await blob.finish()).toMatchObject({ kind: 'blob', length: 1000 });
    expect(await location.createBlob().finish()).toEqual({ kind: 'inline', bytes: new Uint8Array(0) });
  });

  test('holds the writer back for as long as the disk does', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk);
    const blob = location.createBlob();
    const hold = disk.hold({ op: 'write' });
    let isWritten = false;
    const writing = (async () => {
      for (let i = 0; i < 100; i++) await blob.write(new Uint8Array(1000));
      isWritten = true;
    })();
    await hold.reached;
    expect(disk.operations.filter(({ op }) => op === 'write').length).toBe(1);
    expect(isWritten).toBe(false);
    hold.release();
    await writing;
    expect(await blob.finish()).toMatchObject({ length: 100_000 });
  });

  test('keeps every byte in its place also for a writer that does not wait', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk, { inlineThreshold: 0, writeBufferSize: 1000 });
    const blob = location.createBlob();
    const expected = Buffer.alloc(50_000, 'some text of odd length ');
    for (let at = 0; at < expected.length; at += 333) void blob.write(expected.subarray(at, at + 333));
    await blob.finish();
    expect(Buffer.compare(await disk.readFile(`${FOLDER}/blob-id-0`), expected)).toBe(0);
  });

  test('goes to the disk in large pieces, and holds its writer back only when 960 KiB wait', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk, { inlineThreshold: 0, writeBufferSize: 4096 });
    const blob = location.createBlob();
    const hold = disk.hold({ op: 'write' });
    let taken = 0;
    let heldBack: Promise<void> | undefined;
    for (; heldBack === undefined; taken += 1000)
      heldBack = blob.write(new Uint8Array(1000)) as Promise<void> | undefined;
    expect(taken).toBeGreaterThan(15 * 2 ** 16);
    expect(taken).toBeLessThan(15 * 2 ** 16 + 10_000);
    hold.release();
    await heldBack;
    expect(await blob.finish()).toMatchObject({ length: taken });
    const sizes = disk.operations.filter(({ op }) => op === 'write').map(({ bytes }) => bytes);
    expect(sizes).toEqual([5000, taken - 5000]);
  });

  test('tells a failed write to every later call, and leaves no file once aborted', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk);
    const blob = location.createBlob();
    disk.fail({ op: 'write' }, 'EIO');
    const failed = { code: 'STORAGE_FAILED', cause: { code: 'EIO' } };
    await blob.write(new Uint8Array(30_000));
    // The write goes on by itself; nothing on this disk takes more than a few promises.
    for (let i = 0; i < 20; i++) await Promise.resolve();
    await expect(blob.write(new Uint8Array(30_000))).rejects.toMatchObject(failed);
    await expect(blob.write(new Uint8Array(30_000))).rejects.toMatchObject(failed);
    await expect(blob.finish()).rejects.toMatchObject(failed);
    await blob.abort();
    expect(filesOf(disk)).toEqual([]);
    expect(disk.openHandles).toBe(0);
    await location.publish(Uint8Array.of(1));
  });

  test('that is aborted while it is written leaves neither file nor handle', async () => {
    for (const op of ['open', 'write', 'sync', 'close'] as const) {
      const disk = new CrashFileSystem();
      const location = await locationOn(disk);
      const hold = disk.hold({ op, path: /blob-/ });
      const blob = location.createBlob();
      const finishing = (async () => {
        await blob.write(new Uint8Array(30_000));
        return blob.finish();
      })();
      await hold.reached;
      const aborting = blob.abort();
      hold.release();
      await expect(finishing, op).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
      await aborting;
      expect(filesOf(disk), op).toEqual([]);
      expect(disk.openHandles, op).toBe(0);
    }
  });

  test('never writes over a file that is there', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk, { newId: () => 'same' });
    const [one, two] = [location.createBlob(), location.createBlob()];
    await one.write(new Uint8Array(30_000));
    await one.finish();
    await two.write(new Uint8Array(30_000));
    await expect(two.finish()).rejects.toMatchObject({ cause: { code: 'EEXIST' } });
    await two.abort();
    expect(filesOf(disk)).toEqual([`${FOLDER}/blob-same`]);
  });
});

describe('a published checkpoint', () => {
  test('keeps its blobs whatever comes late', async () => {
    const disk = new CrashFileSystem();
    const location = await locationOn(disk);
    const blob = location.createBlob();
    await blob.write(new Uint8Array(30_000));
    await blob.finish();
    const hold = disk.hold({ op: 'rename' });
    const publishing = location.publish(Uint8Array.of(1));
    await hold.reached;
    await blob.abort();
    const discarding = location.discard();
    hold.release();
    await publishing;
    await expect(discarding).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    await blob.abort();
    await expect(location.discard()).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    expect(filesOf(disk)).toEqual([`${FOLDER}/_metadata`, `${FOLDER}/blob-id-0`]);
    expect(disk.crash().paths()).toContain(`${FOLDER}/blob-id-0`);
  });

  test('is refused while a blob of it is neither finished nor aborted', async () => {
    const location = await locationOn(new CrashFileSystem());
    const blob = location.createBlob();
    await expect(location.publish(Uint8Array.of(1))).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
    await blob.abort();
    await location.publish(Uint8Array.of(1));
    expect(location.complete).toBe(true);
  });
});
