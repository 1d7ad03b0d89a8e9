import { hasCode, type FileSystem } from '@weir/core/contracts';

/** Size of a file in bytes; undefined: there is none. */
export async function sizeOf(fileSystem: FileSystem, path: string): Promise<number | undefined> {
  try {
    return (await fileSystem.stat(path)).size;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
