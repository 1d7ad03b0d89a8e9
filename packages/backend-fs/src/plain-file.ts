import { hasCode, type FileKind, type FileSystem } from '@weir/core/contracts';

/** What stands at a path itself. weir makes files and folders: `other`, a link, a FIFO, a socket or a device, is somebody else's. */
export async function kindAt(fs: FileSystem, path: string): Promise<FileKind | 'absent'> {
  try {
    return (await fs.lstat(path)).kind;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'absent';
    throw error;
  }
}

/** Fails with {@link NotPlain} if anything but a regular file stands there: that is not opened, no link is followed, and nobody is waited for. */
export async function requireFile(fs: FileSystem, path: string): Promise<void> {
  const { kind } = await fs.lstat(path);
  if (kind !== 'file') throw new NotPlain(kind, 'regular file');
}

/** False: there is nothing. Fails with {@link NotPlain} if anything but a folder stands there. */
export async function requireFolder(fs: FileSystem, path: string): Promise<boolean> {
  const kind = await kindAt(fs, path);
  if (kind !== 'directory' && kind !== 'absent') throw new NotPlain(kind, 'folder');
  return kind === 'directory';
}

/** Something stands where a file or a folder of weir's has to be. It stays as it is until somebody removes it. */
export class NotPlain extends Error {
  readonly recoverable = false;

  constructor(kind: FileKind, wanted: 'regular file' | 'folder') {
    super(`it is ${WORDS[kind]}, and weir has put a ${wanted} there`);
    this.name = 'NotPlain';
  }
}

const WORDS: Readonly<Record<FileKind, string>> = {
  file: 'a file',
  directory: 'a folder',
  other: 'a link, a FIFO, a socket or a device',
};
