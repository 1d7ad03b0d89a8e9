import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFsStorage } from '@weir/backend-fs';
import { SILENT, type BlobHandle, type FileBlob, type JobStorage } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

// Names in a job's folder that somebody has put something else in the place of.

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'weir-foreign-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const folder = (...names: readonly string[]): string => join(root, 'checkpoints', 'orders', ...names);

async function openJob(): Promise<JobStorage> {
  const storage = createFsStorage({ checkpointsDir: join(root, 'checkpoints'), inlineThreshold: 0 });
  return storage.open({ job: 'orders', clock: new VirtualClock(), logger: SILENT });
}
async function checkpoint(job: JobStorage, id: number): Promise<BlobHandle> {
  const location = await job.create(id);
  const blob = location.createBlob();
  await blob.write(Buffer.from(`state ${String(id)}`));
  const handle = await blob.finish();
  await location.publish(Buffer.from(`metadata ${String(id)}`));
  return handle;
}
/** Something of somebody else's, with what must stay as it is. */
async function neighbour(): Promise<{ readonly path: string; isWhole(): Promise<boolean> }> {
  const path = join(root, 'neighbour');
  await mkdir(path);
  const names = ['attempt-3.free', 'kept', 'tmp-kept', '_metadata', 'blob-kept'];
  for (const name of names) await writeFile(join(path, name), 'kept');
  return {
    path,
    async isWhole() {
      const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
      return texts.every((text) => text === 'kept') && (await readdir(path)).length === names.length;
    },
  };
}

/** Puts something in the place of what is at `path`. */
const REPLACEMENTS: Readonly<Record<string, (path: string, original: string) => Promise<void>>> = {
  'a link to nothing': (path) => symlink(join(root, 'nothing'), path),
  'a link to what was there': (path, original) => symlink(original, path),
  'a FIFO': async (path) => void execFileSync('mkfifo', [path]),
  'a folder': (path) => mkdir(path).then(() => undefined),
};
async function replace(path: string, what: string): Promise<void> {
  const original = join(root, 'original');
  if (existsSync(path)) await rename(path, original);
  await REPLACEMENTS[what]?.(path, original);
}

describe.each(Object.keys(REPLACEMENTS))('%s', (what) => {
  test('in place of _metadata is no reason to take the older checkpoint', async () => {
    const job = await openJob();
    await checkpoint(job, 1);
    await checkpoint(job, 2);
    await replace(folder('chk-2', '_metadata'), what);
    const [, newest] = await job.list();
    expect(newest).toMatchObject({ id: 2, complete: true });
    const unreadable = {
      code: 'CHECKPOINT_UNREADABLE',
      recoverable: false,
      message: expect.stringMatching(/chk-2\/_metadata .*(a folder|a link)/),
    };
    await expect(job.readMetadata(newest!)).rejects.toMatchObject(unreadable);
    for (const pointer of [folder('chk-2'), folder('chk-2', '_metadata')])
      await expect(job.readMetadata(await job.resolve(pointer))).rejects.toMatchObject(unreadable);
  });

  test('in place of a blob is not read', async () => {
    const job = await openJob();
    const handle = (await checkpoint(job, 1)) as FileBlob;
    await replace(folder('chk-1', handle.path), what);
    const [stored] = await job.list();
    const unreadable = { code: 'CHECKPOINT_UNREADABLE', message: expect.stringContaining(handle.path) };
    await expect(job.read(stored!, handle)).rejects.toMatchObject(unreadable);
    await expect(job.readPart?.(stored!, handle, { offset: 0, length: 1 })).rejects.toMatchObject(unreadable);
  });

  test('in place of the mark that the job has finished is not taken for no mark', async () => {
    const job = await openJob();
    await job.writeFinished(Buffer.from('finished'));
    await replace(folder('_finished'), what);
    await expect(job.readFinished()).rejects.toMatchObject({
      code: 'CHECKPOINT_UNREADABLE',
      message: expect.stringMatching(/_finished.*Remove it/),
    });
  });

  test('that passes for something unpublished goes when the next owner cleans up, and alone', async () => {
    const job = await openJob();
    await checkpoint(job, 1);
    const { path, isWhole } = await neighbour();
    for (const name of ['_lock.x', '_finished.x.tmp']) await replace(folder(name), what);
    await symlink(path, folder('_lock.y'));
    await symlink(join(path, 'kept'), folder('_finished.y.tmp'));
    await (await job.lock({ waitMs: 0, signal: new AbortController().signal })).release();
    expect((await readdir(folder())).sort()).toEqual(['_lock', 'chk-1']);
    expect(await isWhole()).toBe(true);
  });
});

describe.each(Object.keys(REPLACEMENTS).filter((what) => what !== 'a folder'))('%s', (what) => {
  test('in place of the lock is refused by name', async () => {
    const job = await openJob();
    const lock = await job.lock({ waitMs: 0, signal: new AbortController().signal });
    await lock.release();
    await replace(folder('_lock'), what);
    await expect(job.lock({ waitMs: 0, signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringMatching(/a link.*folder/),
    });
  });

  test('in place of the shared files is refused by name', async () => {
    const job = await openJob();
    await (await job.create(1)).createSharedBlob?.('key').finish();
    await replace(folder('shared'), what);
    await expect(job.listShared?.()).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
  });

  test('in place of a whole checkpoint is no reason to take the older one', async () => {
    const job = await openJob();
    await checkpoint(job, 1);
    await checkpoint(job, 2);
    await replace(folder('chk-2'), what);
    const [, newest] = await job.list();
    expect(newest).toMatchObject({ id: 2, complete: true });
    await expect(job.readMetadata(newest!)).rejects.toMatchObject({
      code: 'CHECKPOINT_UNREADABLE',
      message: expect.stringContaining('chk-2'),
    });
  });
});

describe('deleting a checkpoint', () => {
  test('whose folder is a link removes the link, and nothing that it leads to', async () => {
    const job = await openJob();
    const { path, isWhole } = await neighbour();
    await checkpoint(job, 1);
    await symlink(path, folder('chk-2'));
    for (const stored of await job.list()) await job.delete(stored);
    expect(await job.list()).toEqual([]);
    expect(await isWhole()).toBe(true);
  });

  test('in whose folder there are links removes the links', async () => {
    const job = await openJob();
    const { path, isWhole } = await neighbour();
    await checkpoint(job, 1);
    await symlink(path, folder('chk-1', 'blob-x'));
    await symlink(join(path, 'kept'), folder('chk-1', 'blob-y'));
    await job.delete((await job.list())[0]!);
    expect(await readdir(folder())).toEqual([]);
    expect(await isWhole()).toBe(true);
  });

  test('that lies among files of the user takes what belongs to it, and leaves the rest', async () => {
    const job = await openJob();
    await checkpoint(job, 1);
    const copy = join(root, 'mine');
    await rename(folder('chk-1'), copy);
    for (const name of ['notes.txt', 'blob', 'x.tmp']) await writeFile(join(copy, name), '');
    await mkdir(join(copy, 'photos'));
    await writeFile(join(copy, '_metadata.torn.tmp'), '');
    await job.delete(await job.resolve(copy));
    expect((await readdir(copy)).sort()).toEqual(['blob', 'notes.txt', 'photos', 'x.tmp']);
    await expect(job.resolve(copy)).rejects.toMatchObject({ code: 'CHECKPOINT_NONE' });
    await job.delete({ id: 1, pointer: copy, complete: true });
    expect((await readdir(copy)).length).toBe(4);
  });

  test('that lies alone in a folder of the user takes the folder with it, and no other', async () => {
    const job = await openJob();
    await checkpoint(job, 1);
    await mkdir(join(root, 'mine'));
    await rename(folder('chk-1'), join(root, 'mine', 'chk-1'));
    await job.delete(await job.resolve(join(root, 'mine', 'chk-1', '_metadata')));
    expect(await readdir(join(root, 'mine'))).toEqual([]);
  });
});

test('the directory of checkpoints, and the folder of a job in it, may be links', async () => {
  await mkdir(join(root, 'elsewhere'));
  await symlink(join(root, 'elsewhere'), join(root, 'checkpoints'));
  const job = await openJob();
  const handle = await checkpoint(job, 1);
  await rename(folder(), join(root, 'orders'));
  await symlink(join(root, 'orders'), folder());
  const [stored] = await job.list();
  expect(Buffer.from(await job.readMetadata(stored!)).toString()).toBe('metadata 1');
  expect(Buffer.from(await job.read(stored!, handle)).toString()).toBe('state 1');
  await symlink(folder('chk-1'), join(root, 'pointer'));
  const found = await job.resolve(join(root, 'pointer'));
  expect(Buffer.from(await job.readMetadata(found)).toString()).toBe('metadata 1');
  await job.delete(stored!);
  expect(await job.list()).toEqual([]);
  expect((await lstat(join(root, 'checkpoints'))).isSymbolicLink()).toBe(true);
  expect(dirname(folder())).toBe(join(root, 'checkpoints'));
  await unlink(folder());
});
