import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localFileSystem } from '@weir/core/contracts';
import { fileSystemSuite } from '@weir/testkit';
import { describe, expect, test } from 'vitest';

const temporary = async (): Promise<string> => mkdtemp(join(tmpdir(), 'weir-local-'));

describe('local file system', () => {
  fileSystemSuite(test, {
    async create() {
      const root = await temporary();
      return {
        fileSystem: localFileSystem(),
        root,
        makeLink: symlink,
        makeFifo: (path) => void execFileSync('mkfifo', [path]),
        dispose: () => rm(root, { recursive: true, force: true }),
      };
    },
  });

  test('stays in the working directory that it was made in', async () => {
    const [here, there] = [await temporary(), await temporary()];
    await writeFile(join(here, 'file'), 'right');
    const before = process.cwd();
    try {
      process.chdir(here);
      const disk = localFileSystem();
      process.chdir(there);
      expect(Buffer.from(await disk.readFile('file')).toString()).toBe('right');
      expect(await disk.makeDirectory('out')).toBe('created');
      await (await disk.open('out/a', 'create')).close();
      await disk.rename('out/a', 'out/b');
      expect((await disk.stat(join(here, 'out/b'))).kind).toBe('file');
      expect(await disk.readDirectory('out')).toEqual([{ name: 'b', kind: 'file' }]);
      await disk.removeTree('out');
      expect(await disk.readDirectory('.')).toEqual([{ name: 'file', kind: 'file' }]);
    } finally {
      process.chdir(before);
      for (const root of [here, there]) await rm(root, { recursive: true });
    }
  });

  test('leads from links to what is there', async () => {
    const root = await temporary();
    const disk = localFileSystem();
    await disk.makeDirectory(join(root, 'folder'));
    await symlink('folder', join(root, 'link'));
    expect(await disk.realPath(join(root, 'link'))).toBe(await disk.realPath(join(root, 'folder')));
    await rm(root, { recursive: true });
  });
});
