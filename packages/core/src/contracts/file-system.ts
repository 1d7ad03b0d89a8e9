/** `other`: a link (whatever it leads to), a FIFO, a socket, a device. */
export type FileKind = 'file' | 'directory' | 'other';
export interface DirectoryEntry {
  readonly name: string;
  /** Of what stands there itself: a link is `other`. */
  readonly kind: FileKind;
}
export interface FileStat {
  readonly kind: FileKind;
  readonly size: number;
  readonly modifiedMs: number;
}

/**
 * The file operations that weir needs, with the durability of POSIX: written bytes survive a crash of the machine only after
 * `sync` of the file, and a new, renamed or deleted name only after `syncDirectory` of the folder that holds it.
 * Failures carry the `code` of Node (`ENOENT`, `EEXIST`, `ENOSPC`, ...).
 *
 * Symbolic links are followed to what is read, written or listed, and never to what is removed. Whoever must not follow one asks `lstat` first.
 * Nothing waits for the other end of a FIFO, a socket or a device.
 */
export interface FileSystem {
  /**
   * `create` fails with EEXIST if the name is taken, by a link too; `append` creates or continues; `read` needs the file. Only regular files are
   * opened: a folder is EISDIR, anything else ENXIO, at once.
   */
  open(path: string, mode: 'create' | 'append' | 'read'): Promise<FileHandle>;
  /** All bytes of a regular file; fails as `open` does. */
  readFile(path: string): Promise<Uint8Array>;
  readDirectory(path: string): Promise<readonly DirectoryEntry[]>;
  /** Of what a link leads to: one that leads to nothing is ENOENT. */
  stat(path: string): Promise<FileStat>;
  /** Of what stands there itself: a link is `other`. */
  lstat(path: string): Promise<FileStat>;
  /** The one absolute name without links of what is there. */
  realPath(path: string): Promise<string>;
  /** Creates one folder; says whether it was new. The parent must exist. */
  makeDirectory(path: string): Promise<'created' | 'exists'>;
  /** Atomic; replaces a file of the new name. A folder may be renamed too, but never onto one that holds something (an error). */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a link; a missing one is not an error. */
  remove(path: string): Promise<void>;
  /** Removes whatever stands there, a folder with all that it holds; a missing one is not an error. What links lead to stays. */
  removeTree(path: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
}
export interface FileHandle {
  /** Writes all bytes at the end of what was written before. */
  write(bytes: Uint8Array): Promise<void>;
  /** Reads up to `length` bytes from `position`; an empty result is the end. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** Bytes and length are durable when this settles. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}
