import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { localFileSystem } from '../../src/adapters/local-file-system.js';
import { localTemporaryFiles } from '../../src/adapters/local-temporary-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('a temporary file gives back what was written, and its name is gone from the start', async () => {
  const file = await localTemporaryFiles(localFileSystem(), folder).create();
  expect(readdirSync(folder)).toEqual([]);
  await file.write(Buffer.from('one, '));
  await file.write(Buffer.from('two'));
  expect(Buffer.from(await file.read(5, 100)).toString()).toBe('two');
  expect((await file.read(8, 100)).length).toBe(0);
  await file.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('a file that could not be made leaves nothing', async () => {
  const system = localFileSystem();
  const refused = new Error('not today');
  const files = localTemporaryFiles(
    { ...system, open: (path, mode) => (mode === 'read' ? Promise.reject(refused) : system.open(path, mode)) },
    folder,
  );
  await expect(files.create()).rejects.toBe(refused);
  expect(readdirSync(folder)).toEqual([]);
});
