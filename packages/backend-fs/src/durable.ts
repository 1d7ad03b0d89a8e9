import { join } from 'node:path';
import { allOf, type FileSystem } from '@weir/core/contracts';
import { METADATA, temporaryName } from './layout.js';
import { kindAt } from './plain-file.js';

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

/**
 * Removes a checkpoint: `_metadata` first and for good, since what is half deleted must not look complete, also after a crash; then what else it is
 * made of; then its folder. In a folder that weir has not made alone (`isOurs` tells a name) all the rest stays, and the folder with it. A link in
 * place of the folder is removed as that.
 */
export async function removeCheckpoint(
  fs: FileSystem,
  folder: string,
  isOurs: (name: string) => boolean = () => true,
): Promise<void> {
  const kind = await kindAt(fs, folder);
  if (kind === 'absent') return;
  if (kind !== 'directory') {
    await fs.removeTree(folder);
    return;
  }
  await fs.remove(join(folder, METADATA));
  await fs.syncDirectory(folder);
  const names = (await fs.readDirectory(folder)).map(({ name }) => name);
  if (names.every(isOurs)) await fs.removeTree(folder);
  else await Promise.all(names.filter(isOurs).map((name) => fs.remove(join(folder, name))));
}
