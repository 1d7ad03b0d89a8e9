import { dirname } from 'node:path';
import { hasCode } from '../errors.js';
import type { FileSystem } from './file-system.js';

/** What a folder answers that is closed to us, or read-only. */
const CLOSED: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];

/**
 * Makes a folder with all those above that are missing. They survive a crash of the machine when this settles.
 * A folder is made only after the one above it is durable, so one that is there needs no more than the sync of its own name,
 * also if the process that made it died at once.
 */
export async function makeDurableFolder(fileSystem: FileSystem, path: string): Promise<void> {
  const parent = dirname(path);
  if (await exists(fileSystem, path)) {
    await syncIfAllowed(fileSystem, parent);
    return;
  }
  await makeDurableFolder(fileSystem, parent);
  await fileSystem.makeDirectory(path);
  await fileSystem.syncDirectory(parent);
}

/** Makes the names in a folder durable that another process may have left without; one that is closed to us, or read-only, is not ours to keep. */
export async function syncIfAllowed(fileSystem: FileSystem, folder: string): Promise<void> {
  try {
    await fileSystem.syncDirectory(folder);
  } catch (error) {
    if (!hasCode(error, ...CLOSED)) throw error;
  }
}

/** Also if it is no folder: whoever then uses it says so. */
async function exists(fileSystem: FileSystem, path: string): Promise<boolean> {
  try {
    await fileSystem.stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
