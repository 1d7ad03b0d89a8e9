import type { FileHandle, FileSystem } from '@weir/core/contracts';
import { CrashFileSystem, fileSystemSuite, runSuite } from '@weir/testkit';
import { describe, expect, test } from 'vitest';

const suiteOn = (broken: (fs: CrashFileSystem) => FileSystem): ((t: typeof test) => void) => {
  return (t) =>
    fileSystemSuite(t, {
      async create() {
        const disk = new CrashFileSystem();
        await disk.makeDirectory('/root');
        return { fileSystem: broken(disk), root: '/root' };
      },
    });
};
const derive = (fs: FileSystem, changes: Partial<FileSystem>): FileSystem =>
  new Proxy(fs, {
    get: (target, name) => {
      const own = changes[name as keyof FileSystem] ?? target[name as keyof FileSystem];
      return own.bind(target);
    },
  });
const withHandle =
  (change: (handle: FileHandle) => Partial<FileHandle>) =>
  (fs: FileSystem): FileSystem =>
    derive(fs, {
      async open(path, mode) {
        const handle = await fs.open(path, mode);
        return { ...handle, ...change(handle) };
      },
    });

describe('a crash file system', () => {
  suiteOn((fs) => fs)(test);
});

describe('the file system suite finds a file system', () => {
  const broken: Record<string, [(fs: CrashFileSystem) => FileSystem, string]> = {
    'that writes only a part of a large chunk': [
      withHandle((handle) => ({ write: (bytes) => handle.write(bytes.subarray(0, 1_000_000)) })),
      'writes every byte of a large chunk',
    ],
    'that opens an existing file as if it were new': [
      (fs) => derive(fs, { open: (path, mode) => fs.open(path, mode === 'create' ? 'append' : mode) }),
      'refuses to create a file that exists, and leaves it as it was',
    ],
    'that fills a truncated file up again': [
      withHandle((handle) => {
        let length = 0;
        return {
          async write(bytes) {
            await handle.truncate(length);
            await handle.write(bytes);
            length += bytes.length;
          },
        };
      }),
      'goes on at the new end after a truncate of a file opened to create',
    ],
    'that fails to remove what is gone': [
      (fs) =>
        derive(fs, {
          async remove(path) {
            await fs.stat(path);
            await fs.remove(path);
          },
        }),
      'removes files, also ones that are gone, but no folder',
    ],
    'that calls every folder new': [
      (fs) =>
        derive(fs, {
          async makeDirectory(path) {
            await fs.makeDirectory(path);
            return 'created';
          },
        }),
      'says whether a folder is new',
    ],
    'that replaces folders': [
      (fs) =>
        derive(fs, {
          async rename(from, to) {
            const target = await fs.stat(to).catch(() => undefined);
            if (target?.kind === 'directory') await fs.removeTree(to);
            await fs.rename(from, to);
          },
        }),
      'never renames a folder onto one that holds something',
    ],
    'that does not see the end of a file': [
      withHandle((handle) => ({ read: async (at, length) => (await handle.read(at, length)).slice(0, length - 1) })),
      'reads from any position, and nothing beyond the end',
    ],
    'that throws errors without a code': [
      (fs) => derive(fs, { stat: (path) => fs.stat(path).catch(() => Promise.reject(new Error('no such file'))) }),
      'names a missing file with ENOENT',
    ],
  };
  for (const [title, [create, found]] of Object.entries(broken)) {
    test(title, async () => {
      const report = await runSuite((t) => suiteOn(create)(t as typeof test));
      expect(report.failed.map((failure) => failure.title)).toContain(found);
    });
  }
});
