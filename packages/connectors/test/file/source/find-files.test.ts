import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SILENT } from '@weir/core/contracts';
import { readerContext, sourceContext } from '@weir/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileSource, textLines } from '../../../src/file/index.js';
import { filesOf, put } from '../../support/files.js';
import { drain, splitsOf } from '../../support/reading.js';

const source = (path: string, fileSystem = undefined as Awaited<ReturnType<typeof filesOf>> | undefined) =>
  fileSource({ path, format: textLines(), fileSystem });
const idsOf = async (...args: Parameters<typeof source>) => (await splitsOf(source(...args))).map(({ id }) => id);

const disk = () =>
  filesOf({
    'data/in/b.txt': 'b',
    'data/in/a.txt': 'a',
    'data/in/B.csv': 'B',
    'data/in/deep/er/c.txt': 'c',
    'data/in/deep.txt': 'd',
    'data/in/.hidden.txt': '',
    'data/in/_SUCCESS': '',
    'data/in/_temporary/x.txt': '',
    'data/in/.git/y.txt': '',
    'data/in/x.txt.inprogress': '',
    'data/in/x.txt.tmp': '',
    'data/in/odd [1].txt': 'odd',
    'data/other.txt': '',
  });

describe('the files of a source', () => {
  test('in a folder are all below it but the hidden and unfinished ones, in the order of their names', async () => {
    const all = ['B.csv', 'a.txt', 'b.txt', 'deep.txt', 'deep/er/c.txt', 'odd [1].txt'];
    expect(await idsOf('data/in', await disk())).toEqual(all);
  });
  test.each([
    ['data/in/*.txt', ['a.txt', 'b.txt', 'deep.txt', 'odd [1].txt']],
    ['data/in/**/*.txt', ['a.txt', 'b.txt', 'deep.txt', 'deep/er/c.txt', 'odd [1].txt']],
    ['data/in/{a,deep/er/c}.txt', ['a.txt', 'deep/er/c.txt']],
    ['./data/in/[ab].*', ['a.txt', 'b.txt']],
    ['data/*/a.txt', ['in/a.txt']],
    ['/data/in/*.csv', ['B.csv']],
  ])('of the glob %s match it', async (glob, ids) => {
    expect(await idsOf(glob, await disk())).toEqual(ids);
  });
  test('are the one with the name, also if the name looks like a glob', async () => {
    expect(await idsOf('data/in/odd [1].txt', await disk())).toEqual(['odd [1].txt']);
    expect(await idsOf('data/in/_SUCCESS', await disk())).toEqual(['_SUCCESS']);
  });
  test.each(['data/missing', 'data/in/*.parquet', 'data/missing/*.txt'])('have to be there: %s', async (path) => {
    const failure = idsOf(path, await disk());
    await expect(failure).rejects.toMatchObject({ code: 'SOURCE_FAILED', recoverable: false });
    await expect(failure).rejects.toThrow(path);
  });
});

describe('a restored source', () => {
  test('is the same under every spelling of its path', async () => {
    const fileSystem = await disk();
    const enumerator = source('data/in', fileSystem).enumerator(sourceContext());
    await enumerator.start(undefined);
    enumerator.assign(0);
    const state = enumerator.snapshot();
    for (const spelling of ['./data/in', 'data/in/', '/data/in', './data/x/../in', 'data/in/**']) {
      const restored = source(spelling, fileSystem).enumerator(sourceContext());
      await restored.start(state);
      expect(restored.assign(0)).toEqual({ id: 'a.txt' });
      const reader = await source(spelling, fileSystem).open({ id: 'a.txt' }, undefined, readerContext());
      expect((await drain(reader)).records).toEqual(['a']);
    }
  });
  test('adds new files behind the known ones, and reads none again', async () => {
    const fileSystem = await disk();
    const enumerator = source('data/in/*.txt', fileSystem).enumerator(sourceContext());
    await enumerator.start(undefined);
    expect(enumerator.assign(0)).toEqual({ id: 'a.txt' });
    enumerator.finished('a.txt');
    expect(enumerator.assign(0)).toEqual({ id: 'b.txt' });
    await put(fileSystem, 'data/in/aa.txt', 'new');
    const restored = source('data/in/*.txt', fileSystem).enumerator(sourceContext());
    await restored.start(enumerator.snapshot());
    const rest = [];
    for (let next = restored.assign(0); typeof next === 'object'; next = restored.assign(0)) rest.push(next.id);
    expect(rest).toEqual(['deep.txt', 'odd [1].txt', 'aa.txt']);
  });
  test('does not ask for files that are all read and removed', async () => {
    const fileSystem = await filesOf({ 'in/a.txt': 'a' });
    const enumerator = source('in', fileSystem).enumerator(sourceContext());
    await enumerator.start(undefined);
    enumerator.assign(0);
    enumerator.finished('a.txt');
    await fileSystem.remove('in/a.txt');
    const restored = source('in', fileSystem).enumerator(sourceContext());
    await restored.start(enumerator.snapshot());
    expect(restored.assign(0)).toBe('end');
  });
  test('names files that were still to be read and are gone', async () => {
    const fileSystem = await filesOf({ 'in/a.txt': 'a', 'in/b.txt': 'b' });
    const enumerator = source('in', fileSystem).enumerator(sourceContext());
    await enumerator.start(undefined);
    enumerator.assign(0);
    await fileSystem.remove('in/b.txt');
    const restored = source('in', fileSystem).enumerator(sourceContext());
    await expect(async () => restored.start(enumerator.snapshot())).rejects.toThrow(/SOURCE_POSITION_GONE.*b\.txt/);
  });
});

describe('on a real disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'weir-files-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('links to files and to folders are followed', async () => {
    await mkdir(path.join(folder, 'in'));
    await mkdir(path.join(folder, 'elsewhere/deep'), { recursive: true });
    await writeFile(path.join(folder, 'a.txt'), 'a');
    await writeFile(path.join(folder, 'elsewhere/deep/b.txt'), 'b');
    await symlink(path.join(folder, 'a.txt'), path.join(folder, 'in/link.txt'));
    await symlink(path.join(folder, 'elsewhere'), path.join(folder, 'in/linked'));
    await symlink(path.join(folder, 'in'), path.join(folder, 'way'));
    for (const way of ['in', 'way', 'in/**/*.txt'])
      expect(await idsOf(path.join(folder, way))).toEqual(['link.txt', 'linked/deep/b.txt']);
    const reader = await source(path.join(folder, 'in')).open({ id: 'linked/deep/b.txt' }, undefined, readerContext());
    expect((await drain(reader)).records).toEqual(['b']);
  });

  test('a folder that two links lead to is read under both names', async () => {
    await mkdir(path.join(folder, 'in/x'), { recursive: true });
    await writeFile(path.join(folder, 'in/x/a.txt'), 'a');
    await symlink('x', path.join(folder, 'in/y'));
    expect(await idsOf(path.join(folder, 'in'))).toEqual(['x/a.txt', 'y/a.txt']);
  });

  test.each([
    ['to its folder', '.', 'in/deep/link'],
    ['to a folder above', '..', 'in/deep/link'],
    ['above all that is read', '../..', 'in/deep/link/in'],
  ])('a link %s, which has no end below it, is refused by name', async (_where, target, name) => {
    await mkdir(path.join(folder, 'in/deep'), { recursive: true });
    await writeFile(path.join(folder, 'in/a.txt'), 'a');
    await symlink(target, path.join(folder, 'in/deep/link'));
    const failure = idsOf(path.join(folder, 'in'));
    await expect(failure).rejects.toMatchObject({ code: 'SOURCE_FAILED', recoverable: false });
    await expect(failure).rejects.toThrow(`${path.join(folder, name)} is a link to`);
  });

  test.each([
    ['to nothing', 'missing.txt'],
    ['to itself', 'lost.txt'],
  ])('a link %s is refused by name: there was to be input', async (_where, target) => {
    await mkdir(path.join(folder, 'in'));
    await writeFile(path.join(folder, 'in/a.csv'), 'a');
    await symlink(target, path.join(folder, 'in/lost.txt'));
    await expect(idsOf(path.join(folder, 'in'))).rejects.toThrow(/SOURCE_FAILED.*in.lost\.txt leads nowhere/);
    expect(await idsOf(path.join(folder, 'in/*.csv'))).toEqual(['a.csv']);
  });

  test('what is neither a file nor a folder is passed over with a warning, and is no input by itself', async () => {
    await mkdir(path.join(folder, 'in'));
    await writeFile(path.join(folder, 'in/a.txt'), 'a');
    const socket = path.join(folder, 'in/socket');
    const server = createServer();
    await new Promise<void>((listening) => void server.listen(socket, listening));
    try {
      const warned: unknown[] = [];
      const logger = { ...SILENT, warn: (fields: object) => void warned.push(fields) };
      const enumerator = source(path.join(folder, 'in')).enumerator(sourceContext({ logger }));
      await enumerator.start(undefined);
      expect([enumerator.assign(0), enumerator.assign(0)]).toEqual([{ id: 'a.txt' }, 'end']);
      expect(warned).toEqual([{ uid: 'source', file: socket }]);
      await expect(idsOf(socket)).rejects.toThrow(/SOURCE_FAILED.*neither a file nor a folder/);
    } finally {
      await new Promise((closed) => server.close(closed));
    }
  });

  test('a relative path stays the one that it was when the source was described', async () => {
    await mkdir(path.join(folder, 'here/in'), { recursive: true });
    await mkdir(path.join(folder, 'there/in'), { recursive: true });
    await writeFile(path.join(folder, 'here/in/a.txt'), 'right');
    await writeFile(path.join(folder, 'there/in/a.txt'), 'wrong');
    const before = process.cwd();
    try {
      process.chdir(path.join(folder, 'here'));
      const [plain, glob] = [source('in'), source('in/*.txt')];
      process.chdir(path.join(folder, 'there'));
      for (const described of [plain, glob]) {
        expect(await splitsOf(described)).toEqual([{ id: 'a.txt' }]);
        const reader = await described.open({ id: 'a.txt' }, undefined, readerContext());
        expect((await drain(reader)).records).toEqual(['right']);
      }
    } finally {
      process.chdir(before);
    }
  });
});
