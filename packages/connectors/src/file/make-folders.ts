import path from 'node:path';
import type { FileSystem } from '@weir/core/contracts';

/** Creates a folder with all above it that are missing. Each new name is durable when this settles. */
export async function makeFolders(fileSystem: FileSystem, folder: string): Promise<void> {
  const parent = path.dirname(folder);
  try {
    await fileSystem.makeDirectory(folder);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT' || parent === folder) throw error;
    await makeFolders(fileSystem, parent);
    await fileSystem.makeDirectory(folder);
  }
  // Also if it is there: whoever created it may have crashed before its name was durable.
  await fileSystem.syncDirectory(parent);
}
