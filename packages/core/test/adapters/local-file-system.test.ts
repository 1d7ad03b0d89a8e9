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
      return { fileSystem: localFileSystem(), root, dispose: () => rm(root, { recursive: true, force: true }) };
    },
  });

  test('does not take a link for what it points to when it lists a folder', async () => {
    const root = await temporary();
    await writeFile(join(root, 'file'), '');
    await symlink(join(root, 'file'), join(root, 'link'));
    const entries = await localFileSystem().readDirectory(root);
    expect(new Map(entries.map(({ name, kind }) => [name, kind])).get('link')).toBe('other');
    expect((await localFileSystem().stat(join(root, 'link'))).kind).toBe('file');
    await rm(root, { recursive: true });
  });
});
