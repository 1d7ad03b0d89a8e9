import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { localFileSystem, type FileHandle, type FileSystem } from '@weir/core/contracts';
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
    'that lets every creator of a file win': [
      (fs) =>
        derive(fs, {
          async open(path, mode) {
            if (mode !== 'create') return fs.open(path, mode);
            if (await fs.stat(path).catch(() => undefined))
              throw Object.assign(new Error('exists'), { code: 'EEXIST' });
            return fs.open(path, 'append');
          },
        }),
      'lets exactly one of many creators of a file win',
    ],
    'that looks whether a folder is there before it makes it': [
      (fs) =>
        derive(fs, {
          async makeDirectory(path) {
            const isThere = await fs.lstat(path).catch(() => undefined);
            await fs.makeDirectory(path);
            return isThere === undefined ? 'created' : 'exists';
          },
        }),
      'lets exactly one of many makers of a folder win',
    ],
    'that copies what it is to rename': [
      (fs) =>
        derive(fs, {
          async rename(from, to) {
            if ((await fs.stat(from)).kind === 'directory') return fs.rename(from, to);
            const bytes = await fs.readFile(from);
            await fs.remove(to);
            const copy = await fs.open(to, 'append');
            await copy.write(bytes);
            await copy.close();
            await fs.remove(from);
          },
        }),
      'lets exactly one of many renames of the same file win',
    ],
    'that begins a file anew to append to it': [
      (fs) =>
        derive(fs, {
          async open(path, mode) {
            if (mode === 'append') await fs.remove(path);
            return fs.open(path, mode);
          },
        }),
      'appends to a file that exists and creates one that does not',
    ],
    'that reads on where it stopped': [
      withHandle((handle) => {
        let at = 0;
        return {
          async read(_position, length) {
            const bytes = await handle.read(at, length);
            at += bytes.length;
            return bytes;
          },
        };
      }),
      'reads from any position, and nothing beyond the end',
    ],
    'that finds an open file by its name': [
      (fs) =>
        derive(fs, {
          async open(path, mode) {
            const handle = await fs.open(path, mode);
            return {
              ...handle,
              async write(bytes) {
                await fs.stat(path);
                await handle.write(bytes);
              },
            };
          },
        }),
      'keeps a file that is open when its name changes or goes',
    ],
    'that takes whatever is there for a file': [
      (fs) => derive(fs, { stat: async (path) => ({ ...(await fs.stat(path)), kind: 'file' }) }),
      'tells what a folder holds, by kind',
    ],
    'that does not know two spellings for one name': [
      (fs) =>
        derive(fs, {
          async realPath(path) {
            await fs.stat(path);
            return path;
          },
        }),
      'has one name for each file and folder, however it is spelt',
    ],
    'that removes a folder like a file': [
      (fs) => derive(fs, { remove: (path) => fs.removeTree(path) }),
      'removes files, also ones that are gone, but no folder',
    ],
    'that removes all whose name begins so': [
      (fs) =>
        derive(fs, {
          async removeTree(path) {
            for (const { name } of await fs.readDirectory(dirname(path)).catch(() => [])) {
              const other = join(dirname(path), name);
              if (other.startsWith(path)) await fs.removeTree(other);
            }
          },
        }),
      'removes a file or a tree, and nothing whose name only begins like it',
    ],
    'that lists what lies in its folders, too': [
      (fs) =>
        derive(fs, {
          async readDirectory(path) {
            const entries = await fs.readDirectory(path);
            const folders = entries.filter(({ kind }) => kind === 'directory');
            const inner = await Promise.all(folders.map(({ name }) => fs.readDirectory(join(path, name))));
            return [...entries, ...inner.flat()];
          },
        }),
      'lists what a folder holds itself, without what lies in its folders',
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

describe('the file system suite finds a local file system', () => {
  const suiteOnDisk =
    (broken: (fs: FileSystem) => FileSystem) =>
    (t: typeof test): void => {
      fileSystemSuite(t, {
        async create() {
          const root = await mkdtemp(join(tmpdir(), 'weir-suite-'));
          return {
            fileSystem: broken(localFileSystem()),
            root,
            makeLink: symlink,
            makeFifo: (path) => void execFileSync('mkfifo', [path]),
            dispose: () => rm(root, { recursive: true, force: true }),
          };
        },
      });
    };
  const broken: Record<string, [(fs: FileSystem) => FileSystem, string]> = {
    'that says of a link what it leads to': [
      (fs) => derive(fs, { lstat: (path) => fs.stat(path) }),
      'follows a link to what is read or listed, and says with lstat that it is one',
    ],
    'that removes what a link leads to': [
      (fs) =>
        derive(fs, {
          async removeTree(path) {
            await fs.removeTree(await fs.realPath(path).catch(() => path));
            await fs.removeTree(path);
          },
        }),
      'removes and replaces links themselves, and never what they lead to',
    ],
    'that waits for the other end of a FIFO': [
      (fs) =>
        derive(fs, {
          async open(path, mode) {
            const isFifo = (await stat(path).catch(() => undefined))?.isFIFO() ?? false;
            // No real thread waits: nobody would ever come.
            if (isFifo) await new Promise((resolve) => setTimeout(resolve, LATER_MS));
            return fs.open(path, mode);
          },
        }),
      'waits for nobody at the other end of a FIFO',
    ],
  };
  for (const [title, [create, found]] of Object.entries(broken)) {
    test(title, async () => {
      const report = await runSuite((t) => {
        suiteOnDisk(create)(t as typeof test);
      });
      expect(report.failed.map((failure) => failure.title)).toContain(found);
    });
  }
});

/** Longer than the suite takes for an answer that does not wait. */
const LATER_MS = 2500;
