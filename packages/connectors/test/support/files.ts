import path from 'node:path/posix';
import type { FileHandle, FileSystem } from '@weir/core/contracts';
import { CrashFileSystem, delegating } from '@weir/testkit';

/** A disk in memory that holds these files. */
export async function filesOf(contents: Readonly<Record<string, string | Uint8Array>>): Promise<CrashFileSystem> {
  const disk = new CrashFileSystem();
  for (const [name, content] of Object.entries(contents)) await put(disk, name, content);
  return disk;
}

export async function put(disk: FileSystem, name: string, content: string | Uint8Array): Promise<void> {
  let folder = '';
  for (const part of path.dirname(name).split('/')) {
    folder = folder === '' ? part || '/' : path.join(folder, part);
    if (folder !== '/' && folder !== '.') await disk.makeDirectory(folder);
  }
  await disk.remove(name);
  const handle = await disk.open(name, 'create');
  await handle.write(typeof content === 'string' ? Buffer.from(content) : content);
  await handle.close();
}

export async function textOf(disk: FileSystem, name: string): Promise<string> {
  return Buffer.from(await disk.readFile(name)).toString();
}

/** The same disk, but each read of an open file fails as one of a broken disk does. */
export function failingReads(disk: FileSystem): FileSystem {
  const { fileSystem, fail } = unreliableReads(disk);
  fail();
  return fileSystem;
}

/** The same disk, but a read gives `bytes` bytes at most, as reads may. */
export function shortReads(disk: FileSystem, bytes: number): FileSystem {
  return withReads(disk, (handle, position, length) => handle.read(position, Math.min(length, bytes)));
}

/** The same disk, whose reads fail from `fail` until `work`. */
export function unreliableReads(disk: FileSystem): { readonly fileSystem: FileSystem; fail(): void; work(): void } {
  let fails = false;
  return {
    fileSystem: withReads(disk, async (handle, position, length) => {
      if (fails) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
      return handle.read(position, length);
    }),
    fail: () => {
      fails = true;
    },
    work: () => {
      fails = false;
    },
  };
}

function withReads(
  disk: FileSystem,
  read: (handle: FileHandle, position: number, length: number) => Promise<Uint8Array>,
): FileSystem {
  return delegating(disk, {
    open: async (file, mode) => {
      const handle = await disk.open(file, mode);
      return { ...handle, read: (position, length) => read(handle, position, length) };
    },
  });
}
