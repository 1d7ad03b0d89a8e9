import { join } from 'node:path';
import type { FileSystem } from '@weir/core/contracts';
import { hasCode } from './failure.js';
import { METADATA, temporaryName } from './layout.js';

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
