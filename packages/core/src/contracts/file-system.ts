export interface DirectoryEntry {
  readonly name: string;
  /** A link is 'other', whatever it leads to. */
  readonly kind: 'file' | 'directory' | 'other';
}
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  readonly modifiedMs: number;
}

/**
 * The file operations that weir needs, with the durability of POSIX: written bytes survive a crash of the machine only after
 * `sync` of the file, and a new, renamed or deleted name only after `syncDirectory` of the folder that holds it.
 * Failures carry the `code` of Node (`ENOENT`, `EEXIST`, `ENOSPC`, ...).
 */
export interface FileSystem {
  /** `create` fails with EEXIST if the name is taken; `append` creates or continues; `read` needs the file. */
  open(path: string, mode: 'create' | 'append' | 'read'): Promise<FileHandle>;
  readFile(path: string): Promise<Uint8Array>;
  readDirectory(path: string): Promise<readonly DirectoryEntry[]>;
  /** Of what a link leads to, if it is one. */
  stat(path: string): Promise<FileStat>;
  /** The one absolute name without links of what is there. */
  realPath(path: string): Promise<string>;
  /** Creates one folder; says whether it was new. The parent must exist. */
  makeDirectory(path: string): Promise<'created' | 'exists'>;
  /** Atomic; replaces a file of the new name. A folder may be renamed too, but never onto one that holds something (an error). */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; a missing one is not an error. */
  remove(path: string): Promise<void>;
  /** Removes a folder with all that it holds; a missing one is not an error. */
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
