import { join } from 'node:path';
import { allOf, type FileSystem } from '@weir/core/contracts';
import { hasCode } from './failure.js';
import { METADATA, temporaryName } from './layout.js';

export interface Publication {
  readonly folder: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Tells its temporary name from those of others. */
  readonly random: string;
  /** What the file speaks of: it appears only once these have settled well, whose work goes on beside the writing of its bytes. */
  readonly after?: readonly Promise<void>[];
}

/** Puts a file in place: at any moment, and after any crash, it is there with all its bytes or not at all. Durable when settled. */
export async function publishFile(
  fs: FileSystem,
  { folder, name, bytes, random, after = [] }: Publication,
): Promise<void> {
  const temporary = join(folder, temporaryName(name, random));
  try {
    await allOf([writeDurably(fs, temporary, bytes), ...after]);
    await fs.rename(temporary, join(folder, name));
  } catch (error) {
    await fs.remove(temporary).catch(() => undefined);
    throw error;
  }
  await fs.syncDirectory(folder);
}

async function writeDurably(fs: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const file = await fs.open(path, 'create');
  try {
    await file.write(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
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
