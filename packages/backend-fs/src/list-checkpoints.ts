import { join } from 'node:path';
import type { FileSystem, StoredCheckpoint } from '@weir/core/contracts';
import { hasCode } from './failure.js';
import { METADATA, checkpointIdOf } from './layout.js';

/** Every checkpoint's folder in a job's folder, ascending by id. */
export async function listCheckpoints(fs: FileSystem, jobFolder: string): Promise<StoredCheckpoint[]> {
  const found: StoredCheckpoint[] = [];
  for (const { name, kind } of await entriesOf(fs, jobFolder)) {
    const id = checkpointIdOf(name);
    if (id === undefined || kind !== 'directory') continue;
    const pointer = join(jobFolder, name);
    found.push({ id, pointer, complete: await isComplete(fs, pointer) });
  }
  return found.sort((a, b) => a.id - b.id);
}

async function entriesOf(fs: FileSystem, folder: string): ReturnType<FileSystem['readDirectory']> {
  try {
    return await fs.readDirectory(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

async function isComplete(fs: FileSystem, folder: string): Promise<boolean> {
  try {
    return (await fs.stat(join(folder, METADATA))).kind === 'file';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
