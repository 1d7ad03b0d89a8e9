import assert from 'node:assert/strict';
import type { Awaitable } from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';
import {
  bytes,
  names,
  read,
  rejects,
  successes,
  text,
  write,
  type CheckFileSystem,
  type FileSystemFixture,
} from './checks.js';
import { specialFileChecks } from './special-files.js';

export interface FileSystemSuiteOptions {
  /** A file system and an empty folder of it, new for each test. */
  create(): Awaitable<FileSystemFixture>;
}
/**
 * Tests what the FileSystem contract promises to a running program. What survives a crash can only
 * be tested by crashing: see CrashFileSystem.
 */
export function fileSystemSuite(test: TestFunction, options: FileSystemSuiteOptions): void {
  const check: CheckFileSystem = (title, body) => {
    test(title, async () => {
      const fixture = await options.create();
      try {
        await body(fixture.fileSystem, fixture.root, fixture);
      } finally {
        await fixture.dispose?.();
      }
    });
  };

  check('reads back what was written, in the order of the writes', async (fs, root) => {
    const file = await fs.open(`${root}/a`, 'create');
    await file.write(bytes('one '));
    await file.write(bytes('two '));
    await file.write(bytes('three'));
    await file.close();
    assert.equal(await read(fs, `${root}/a`), 'one two three');
  });

  check('writes every byte of a large chunk', async (fs, root) => {
    const large = new Uint8Array(5_000_000).map((_, i) => i % 251);
    await write(fs, `${root}/a`, large);
    assert.deepEqual(Buffer.compare(await fs.readFile(`${root}/a`), large), 0);
  });

  check('refuses to create a file that exists, and leaves it as it was', async (fs, root) => {
    await write(fs, `${root}/a`, bytes('old'));
    await rejects(fs.open(`${root}/a`, 'create'), 'EEXIST');
    assert.equal(await read(fs, `${root}/a`), 'old');
  });

  check('lets exactly one of many creators of a file win', async (fs, root) => {
    assert.equal(await successes(8, async () => (await fs.open(`${root}/a`, 'create')).close()), 1);
  });

  check('appends to a file that exists and creates one that does not', async (fs, root) => {
    for (const text of ['one ', 'two']) {
      const file = await fs.open(`${root}/a`, 'append');
      await file.write(bytes(text));
      await file.close();
    }
    assert.equal(await read(fs, `${root}/a`), 'one two');
  });

  for (const mode of ['create', 'append'] as const) {
    check(`goes on at the new end after a truncate of a file opened to ${mode}`, async (fs, root) => {
      const file = await fs.open(`${root}/a`, mode);
      await file.write(bytes('keep, lose'));
      await file.truncate(6);
      await file.write(bytes('new'));
      await file.close();
      assert.equal(await read(fs, `${root}/a`), 'keep, new');
    });
  }

  check('reads from any position, and nothing beyond the end', async (fs, root) => {
    await write(fs, `${root}/a`, bytes('0123456789'));
    const file = await fs.open(`${root}/a`, 'read');
    assert.equal(text(await file.read(4, 3)), '456');
    assert.equal(text(await file.read(8, 100)), '89');
    assert.equal((await file.read(10, 5)).length, 0);
    await file.close();
  });

  check('keeps a file that is open when its name changes or goes', async (fs, root) => {
    const file = await fs.open(`${root}/a`, 'create');
    await file.write(bytes('before '));
    await fs.rename(`${root}/a`, `${root}/b`);
    await file.write(bytes('after'));
    assert.equal(await read(fs, `${root}/b`), 'before after');
    await fs.remove(`${root}/b`);
    await file.write(bytes('!'));
    await file.sync();
    await file.close();
    await rejects(fs.stat(`${root}/b`), 'ENOENT');
  });

  check('names a missing file with ENOENT', async (fs, root) => {
    await rejects(fs.readFile(`${root}/none`), 'ENOENT');
    await rejects(fs.open(`${root}/none`, 'read'), 'ENOENT');
    await rejects(fs.stat(`${root}/none`), 'ENOENT');
    await rejects(fs.realPath(`${root}/none`), 'ENOENT');
    await rejects(fs.readDirectory(`${root}/none`), 'ENOENT');
    await rejects(fs.syncDirectory(`${root}/none`), 'ENOENT');
    await rejects(fs.rename(`${root}/none`, `${root}/some`), 'ENOENT');
    await rejects(fs.open(`${root}/none/a`, 'create'), 'ENOENT');
    await rejects(fs.makeDirectory(`${root}/none/a`), 'ENOENT');
  });

  check('tells what a folder holds, by kind', async (fs, root) => {
    await write(fs, `${root}/file`, bytes('12345'));
    await fs.makeDirectory(`${root}/folder`);
    const entries = [...(await fs.readDirectory(root))].sort((a, b) => (a.name < b.name ? -1 : 1));
    assert.deepEqual(
      entries.map(({ name, kind }) => ({ name, kind })),
      [
        { name: 'file', kind: 'file' },
        { name: 'folder', kind: 'directory' },
      ],
    );
    assert.equal((await fs.stat(`${root}/file`)).kind, 'file');
    assert.equal((await fs.stat(`${root}/file`)).size, 5);
    assert.equal((await fs.stat(`${root}/folder`)).kind, 'directory');
    await rejects(fs.readDirectory(`${root}/file`), 'ENOTDIR');
  });

  check('has one name for each file and folder, however it is spelt', async (fs, root) => {
    await fs.makeDirectory(`${root}/folder`);
    await write(fs, `${root}/folder/file`, bytes('x'));
    const [folder, file] = [await fs.realPath(`${root}/folder`), await fs.realPath(`${root}/folder/file`)];
    assert.equal(await read(fs, file), 'x');
    assert.notEqual(folder, file);
    assert.equal(await fs.realPath(`${root}/./folder/../folder/`), folder);
    assert.equal(await fs.realPath(file), file);
  });

  check('says whether a folder is new', async (fs, root) => {
    assert.equal(await fs.makeDirectory(`${root}/folder`), 'created');
    assert.equal(await fs.makeDirectory(`${root}/folder`), 'exists');
    await write(fs, `${root}/file`, bytes(''));
    await rejects(fs.makeDirectory(`${root}/file`), 'EEXIST');
  });

  check('lets exactly one of many makers of a folder win', async (fs, root) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => fs.makeDirectory(`${root}/folder`)));
    assert.equal(answers.filter((answer) => answer === 'created').length, 1);
  });

  check('replaces a file by rename', async (fs, root) => {
    await write(fs, `${root}/a`, bytes('new'));
    await write(fs, `${root}/b`, bytes('old'));
    await fs.rename(`${root}/a`, `${root}/b`);
    assert.equal(await read(fs, `${root}/b`), 'new');
    await rejects(fs.stat(`${root}/a`), 'ENOENT');
  });

  check('lets exactly one of many renames of the same file win', async (fs, root) => {
    await write(fs, `${root}/a`, bytes('x'));
    assert.equal(await successes(8, (i) => fs.rename(`${root}/a`, `${root}/b${String(i)}`)), 1);
    assert.equal((await fs.readDirectory(root)).length, 1);
  });

  check('never renames a folder onto one that holds something', async (fs, root) => {
    for (const name of ['a', 'b']) {
      await fs.makeDirectory(`${root}/${name}`);
      await write(fs, `${root}/${name}/of-${name}`, bytes('x'));
    }
    await assert.rejects(fs.rename(`${root}/a`, `${root}/b`));
    assert.equal((await fs.stat(`${root}/a/of-a`)).kind, 'file');
    assert.equal((await fs.stat(`${root}/b/of-b`)).kind, 'file');
    await fs.rename(`${root}/a`, `${root}/c`);
    assert.equal((await fs.stat(`${root}/c/of-a`)).kind, 'file');
  });

  check('removes files, also ones that are gone, but no folder', async (fs, root) => {
    await write(fs, `${root}/a`, bytes('x'));
    await fs.remove(`${root}/a`);
    await fs.remove(`${root}/a`);
    await fs.remove(`${root}/none/a`);
    await fs.makeDirectory(`${root}/folder`);
    await assert.rejects(fs.remove(`${root}/folder`));
    assert.equal((await fs.stat(`${root}/folder`)).kind, 'directory');
  });

  check('removes a tree, also one that is gone', async (fs, root) => {
    await fs.makeDirectory(`${root}/a`);
    await fs.makeDirectory(`${root}/a/b`);
    await write(fs, `${root}/a/b/c`, bytes('x'));
    await fs.removeTree(`${root}/a`);
    await fs.removeTree(`${root}/a`);
    assert.deepEqual(await fs.readDirectory(root), []);
  });

  check('opens no folder as a file', async (fs, root) => {
    await fs.makeDirectory(`${root}/folder`);
    await rejects(fs.open(`${root}/folder`, 'read'), 'EISDIR');
    await rejects(fs.open(`${root}/folder`, 'append'), 'EISDIR');
    await rejects(fs.open(`${root}/folder`, 'create'), 'EEXIST');
    await rejects(fs.readFile(`${root}/folder`), 'EISDIR');
  });

  check('removes as a tree what is a file only', async (fs, root) => {
    await write(fs, `${root}/a`, bytes('x'));
    await fs.removeTree(`${root}/a`);
    assert.deepEqual(await fs.readDirectory(root), []);
  });

  check('removes a file or a tree, and nothing whose name only begins like it', async (fs, root) => {
    for (const name of ['chk-1', 'chk-10', 'chk-11']) {
      await fs.makeDirectory(`${root}/${name}`);
      await write(fs, `${root}/${name}/a`, bytes('x'));
      await write(fs, `${root}/${name}/a.tmp`, bytes('x'));
    }
    await fs.remove(`${root}/chk-1/a`);
    assert.deepEqual(await names(fs, `${root}/chk-1`), ['a.tmp']);
    await fs.removeTree(`${root}/chk-1`);
    assert.deepEqual(await names(fs, root), ['chk-10', 'chk-11']);
    assert.deepEqual(await names(fs, `${root}/chk-10`), ['a', 'a.tmp']);
  });

  check('lists what a folder holds itself, without what lies in its folders', async (fs, root) => {
    await fs.makeDirectory(`${root}/folder`);
    await write(fs, `${root}/folder/inner`, bytes('x'));
    assert.deepEqual(await names(fs, root), ['folder']);
  });

  check('says of a file and a folder the same with lstat', async (fs, root) => {
    await write(fs, `${root}/file`, bytes('12345'));
    await fs.makeDirectory(`${root}/folder`);
    assert.deepEqual(await fs.lstat(`${root}/file`), await fs.stat(`${root}/file`));
    assert.equal((await fs.lstat(`${root}/folder`)).kind, 'directory');
    await rejects(fs.lstat(`${root}/none`), 'ENOENT');
  });

  specialFileChecks(check);

  check('syncs files and folders', async (fs, root) => {
    const file = await fs.open(`${root}/a`, 'create');
    await file.write(bytes('x'));
    await file.sync();
    await file.close();
    await fs.syncDirectory(root);
    assert.equal(await read(fs, `${root}/a`), 'x');
  });
}
