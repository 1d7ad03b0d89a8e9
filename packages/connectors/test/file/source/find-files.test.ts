import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
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

  test('links to files are followed, links to folders are not', async () => {
    await mkdir(path.join(folder, 'in'));
    await writeFile(path.join(folder, 'a.txt'), 'a');
    await symlink(path.join(folder, 'a.txt'), path.join(folder, 'in/link.txt'));
    await symlink(folder, path.join(folder, 'in/loop'));
    expect(await idsOf(path.join(folder, 'in'))).toEqual(['link.txt']);
  });
});
