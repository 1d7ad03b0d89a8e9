import path from 'node:path';
import type { FileSystem } from '@weir/core/contracts';

/** What a folder answers that is closed to us, or read-only: its names are not ours to keep. */
const CLOSED: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS'];

/**
 * Creates a folder with all above it that are missing. Each new name is durable when this settles. A folder is created only after the one above it
 * is durable, so one that is there needs no more than the sync of its own name: whoever created it may have died before.
 */
export async function makeFolders(fileSystem: FileSystem, folder: string): Promise<void> {
  const parent = path.dirname(folder);
  if (await exists(fileSystem, folder)) {
    await fileSystem.syncDirectory(parent).catch((error: unknown) => {
      if (!CLOSED.includes(codeOf(error))) throw error;
    });
    return;
  }
  await makeFolders(fileSystem, parent);
  await fileSystem.makeDirectory(folder);
  await fileSystem.syncDirectory(parent);
}

async function exists(fileSystem: FileSystem, folder: string): Promise<boolean> {
  try {
    return (await fileSystem.stat(folder)).kind === 'directory';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
