import { hasCode } from '../errors.js';
import type { Stats } from 'node:fs';
import fs from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { DirectoryEntry, FileHandle, FileStat, FileSystem } from '../contracts/file-system.js';

/**
 * The disk of this machine through node:fs/promises. Failures are Node's own, with their `code`. A relative path is one from the working directory
 * that the process has now, wherever it changes to later.
 */
export function localFileSystem(): FileSystem {
  const from = workingDirectory();
  const at = (path: string): string => (isAbsolute(path) ? path : resolve(from, path));
  return {
    open: (path, mode) => LOCAL.open(at(path), mode),
    readFile: (path) => LOCAL.readFile(at(path)),
    readDirectory: (path) => LOCAL.readDirectory(at(path)),
    stat: (path) => LOCAL.stat(at(path)),
    lstat: (path) => LOCAL.lstat(at(path)),
    realPath: (path) => LOCAL.realPath(at(path)),
    makeDirectory: (path) => LOCAL.makeDirectory(at(path)),
    rename: (from, to) => LOCAL.rename(at(from), at(to)),
    remove: (path) => LOCAL.remove(at(path)),
    removeTree: (path) => LOCAL.removeTree(at(path)),
    syncDirectory: (path) => LOCAL.syncDirectory(at(path)),
  };
}

/** One that was removed is no reason to fail for those who use absolute paths only. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
// Append mode also for a new file: after `truncate` the next write must go to the new end. O_NONBLOCK is for FIFOs, which answer at once with it.
const FLAGS = {
  create: O_APPEND | O_CREAT | O_EXCL | O_WRONLY,
  append: O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK,
  read: O_RDONLY | O_NONBLOCK,
} as const;

const LOCAL: FileSystem = {
  async open(path, mode) {
    return handle(await openRegular(path, mode));
  },
  async readFile(path) {
    const file = await openRegular(path, 'read');
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  },
  async readDirectory(path) {
    const entries = await fs.readdir(path, { withFileTypes: true });
    return entries.map((entry): DirectoryEntry => ({ name: entry.name, kind: kindOf(entry) }));
  },
  stat: async (path) => statOf(await fs.stat(path)),
  lstat: async (path) => statOf(await fs.lstat(path)),
  realPath: (path) => fs.realpath(path),
  async makeDirectory(path) {
    try {
      await fs.mkdir(path);
      return 'created';
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || !(await fs.stat(path)).isDirectory()) throw error;
      return 'exists';
    }
  },
  rename: (from, to) => fs.rename(from, to),
  async remove(path) {
    try {
      await fs.unlink(path);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  },
  async removeTree(path) {
    // With a slash at its end it would be what a link leads to.
    const name = resolve(path);
    try {
      if ((await fs.lstat(name)).isDirectory()) await removeFlat(name);
      else await fs.unlink(name);
    } catch {
      await fs.rm(name, { recursive: true, force: true });
    }
  },
  async syncDirectory(path) {
    // Windows cannot open a folder, and NTFS journals names by itself.
    if (process.platform === 'win32') return;
    const folder = await fs.open(path, O_RDONLY | O_DIRECTORY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
};

/** A folder with nothing but files in it, which a checkpoint's usually is: `rm` looks at everything first, in more than twice the steps. */
async function removeFlat(path: string): Promise<void> {
  const names = await fs.readdir(path);
  await Promise.all(names.map((name) => fs.unlink(join(path, name))));
  await fs.rmdir(path);
}

async function openRegular(path: string, mode: keyof typeof FLAGS): Promise<fs.FileHandle> {
  const file = await fs.open(path, FLAGS[mode]);
  try {
    const stats = await file.stat();
    if (stats.isFile()) return file;
    throw notRegular(path, stats.isDirectory() ? 'EISDIR' : 'ENXIO');
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** As the system itself says it of a folder that is opened for writing, or of a socket. */
function notRegular(path: string, code: 'EISDIR' | 'ENXIO'): Error {
  const what = code === 'EISDIR' ? 'illegal operation on a directory' : 'no regular file';
  return Object.assign(new Error(`${code}: ${what}, open '${path}'`), { code, syscall: 'open', path });
}

function statOf(stats: Stats): FileStat {
  return { kind: kindOf(stats), size: stats.size, modifiedMs: stats.mtimeMs };
}

function handle(file: fs.FileHandle): FileHandle {
  return {
    async write(bytes) {
      // One call may write less than it was given: a nearly full disk, a signal, more than 2 GiB.
      for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
    },
    async read(position, length) {
      const target = Buffer.allocUnsafeSlow(length);
      const { bytesRead } = await file.read(target, 0, target.length, position);
      return target.subarray(0, bytesRead);
    },
    sync: () => file.sync(),
    truncate: (length) => file.truncate(length),
    close: () => file.close(),
  };
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): DirectoryEntry['kind'] {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : 'other';
}
