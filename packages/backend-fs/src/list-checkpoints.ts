import { join } from 'node:path';
import { hasCode, type FileSystem, type StoredCheckpoint } from '@weir/core/contracts';
import { METADATA, checkpointIdOf } from './layout.js';
import { kindAt } from './plain-file.js';

/**
 * Every checkpoint's folder in a job's folder, ascending by id. What stands there in place of a folder, or of its `_metadata`, was put there by
 * somebody: it counts as complete, so that reading it fails and no older one is taken in silence.
 */
export async function listCheckpoints(fs: FileSystem, jobFolder: string): Promise<StoredCheckpoint[]> {
  const found: StoredCheckpoint[] = [];
  for (const { name, kind } of await entriesOf(fs, jobFolder)) {
    const id = checkpointIdOf(name);
    if (id === undefined) continue;
    const pointer = join(jobFolder, name);
    const complete = kind !== 'directory' || (await kindAt(fs, join(pointer, METADATA))) !== 'absent';
    found.push({ id, pointer, complete });
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
