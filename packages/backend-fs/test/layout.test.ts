import { pathToFileURL } from 'node:url';
import { createFsStorage } from '@weir/backend-fs';
import { SILENT, systemClock } from '@weir/core/contracts';
import { CrashFileSystem } from '@weir/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkpointIdOf, isTemporary, jobFolderName, pathOf, temporaryLock, temporaryName } from '../src/layout.js';

describe("the name of a job's folder", () => {
  test('is the name itself where that is safe', () => {
    for (const name of ['orders', 'orders-2', 'orders_eu', 'v1.2', 'a--b']) expect(jobFolderName(name)).toBe(name);
  });

  test('has nothing in it that a path could stumble over', () => {
    const names: [string, string][] = [
      ['..', '%2e%2e'],
      ['.', '%2e'],
      ['.hidden', '%2ehidden'],
      ['dot.', 'dot%2e'],
      ['a/b', 'a%2fb'],
      ['a\\b', 'a%5cb'],
      ['a:b*?', 'a%3ab%2a%3f'],
      ['a\0', 'a%00'],
      ['Orders', '%4frders'],
      ['größe', 'gr%c3%b6%c3%9fe'],
      ['100%', '100%25'],
      [' ', '%20'],
    ];
    for (const [name, folder] of names) expect(jobFolderName(name)).toBe(folder);
  });

  test('gives the name back, and is the same for no two names, also where the disk ignores case', () => {
    const names = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(names, names, (a, b) => {
        const folder = jobFolderName(a);
        expect(folder).toMatch(/^(?!\.)[a-z0-9_.%-]+(?<!\.)$/);
        expect(decodeURIComponent(folder)).toBe(a);
        if (a !== b) expect(folder.toLowerCase()).not.toBe(jobFolderName(b).toLowerCase());
        for (const similar of [a.toUpperCase(), a.toLowerCase(), `${a}.`, folder]) {
          if (similar !== a) expect(jobFolderName(similar)).not.toBe(folder);
        }
      }),
    );
  });

  test('is refused for a name that is empty, no text, or too long', () => {
    for (const name of ['', '\ud800', 'x'.repeat(201), 'ä'.repeat(40)]) {
      expect(() => jobFolderName(name)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    }
    expect(jobFolderName('x'.repeat(200)).length).toBe(200);
  });
});

test("only a checkpoint's own folder name tells an id", () => {
  expect(checkpointIdOf('chk-8')).toBe(8);
  expect(checkpointIdOf('chk-10')).toBe(10);
  const foreign = [
    'chk-',
    'chk-0',
    'chk-08',
    'chk-8.tmp',
    'chk-8 ',
    'CHK-8',
    'chk--8',
    'chk-1e3',
    'chk-8/',
    'chk-99999999999999999',
  ];
  for (const name of [...foreign, '.DS_Store', '_lock', 'shared']) expect(checkpointIdOf(name), name).toBeUndefined();
});

test('temporary names are known as such, and no others', () => {
  expect(isTemporary(temporaryLock('x'))).toBe(true);
  expect(isTemporary(temporaryName('_finished', 'x'))).toBe(true);
  for (const name of ['_lock', '_finished', 'chk-8', 'chk-8.tmp', 'mine.tmp'])
    expect(isTemporary(name), name).toBe(false);
});

test('a path may be absolute, relative, or a file URL', () => {
  expect(pathOf('/a/b/', 'dir')).toBe('/a/b');
  expect(pathOf('b', 'dir')).toBe(`${process.cwd()}/b`);
  expect(pathOf(pathToFileURL('/a b/c').href, 'dir')).toBe('/a b/c');
});

test('no folder is made of the scheme of a URL, for checkpoints, for savepoints, and for what is restored', async () => {
  const refused = expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining("serves 's3:'") });
  expect(() => createFsStorage({ checkpointsDir: 's3://bucket/a' })).toThrow(refused);
  expect(() => createFsStorage({ checkpointsDir: 'a', savepointsDir: 's3://bucket/a' })).toThrow(refused);
  const disk = new CrashFileSystem();
  const storage = createFsStorage({ checkpointsDir: '/state', fileSystem: disk });
  const job = await storage.open({ job: 'orders', clock: systemClock, logger: SILENT });
  await expect(job.resolve('s3://bucket/chk-1')).rejects.toEqual(refused);
  await expect(job.createSavepoint!(1, 's3://bucket/a')).rejects.toEqual(refused);
});
