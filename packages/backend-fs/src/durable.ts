import { dirname, join } from 'node:path';
import type { FileSystem } from '@weir/core/contracts';
import { hasCode } from './failure.js';
import { METADATA, temporaryName } from './layout.js';

/**
 * Makes a folder with all those above that are missing. They survive a crash of the machine when this settles.
 * A folder is made only after the one above it is durable, so one that is there needs no more than the sync of its own name,
 * also if the process that made it died at once.
 */
export async function makeFolder(fs: FileSystem, path: string): Promise<void> {
  const parent = dirname(path);
  if (await exists(fs, path)) {
    await syncIfAllowed(fs, parent);
    return;
  }
  await makeFolder(fs, parent);
  await fs.makeDirectory(path);
  await fs.syncDirectory(parent);
}

/** Makes the names in a folder durable that another process may have left without; one that is closed to us, or read-only, is not ours to keep. */
export async function syncIfAllowed(fs: FileSystem, folder: string): Promise<void> {
  try {
    await fs.syncDirectory(folder);
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
  }
}

async function exists(fs: FileSystem, path: string): Promise<boolean> {
  try {
    await fs.stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Puts a file in place: at any moment, and after any crash, it is there with all its bytes or not at all. Durable when settled. */
export async function publishFile(
  fs: FileSystem,
  folder: string,
  name: string,
  bytes: Uint8Array,
  random: string,
): Promise<void> {
  const temporary = join(folder, temporaryName(name, random));
  const file = await fs.open(temporary, 'create');
  try {
    try {
      await file.write(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, join(folder, name));
  } catch (error) {
    await fs.remove(temporary).catch(() => undefined);
    throw error;
  }
  await fs.syncDirectory(folder);
}

/** Removes a checkpoint's folder. `_metadata` goes first and for good: what is half deleted must not look complete, also after a crash. */
export async function removeCheckpoint(fs: FileSystem, folder: string): Promise<void> {
  await fs.remove(join(folder, METADATA));
  try {
    await fs.syncDirectory(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  await fs.removeTree(folder);
}
