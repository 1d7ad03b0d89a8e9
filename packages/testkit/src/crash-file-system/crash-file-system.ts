import { posix } from 'node:path';
import type { DirectoryEntry, FileHandle, FileStat, FileSystem } from '@weir/core/contracts';
import type { CrashOutcome } from './crash-outcome.js';
import { Faults, type FailureOptions, type Fault, type Hold } from './faults.js';
import { FileError } from './file-error.js';
import { NameTree } from './name-tree.js';
import { FileNode, newFolder } from './nodes.js';
import type { Operation, OperationPattern } from './operation.js';

export interface CrashFileSystemOptions {
  /** Times of changes, epoch ms. Default: always 0. */
  readonly now?: (() => number) | undefined;
}

/**
 * A file system in memory that knows what a crash would leave: written bytes are durable after `sync` of the file,
 * names after `syncDirectory` of their folder. `crash` and `kill` give the disk as the next process finds it, as a new
 * file system; the old one stays as it was, so several outcomes of one moment can be looked at.
 * Paths are POSIX paths; relative ones start at the root. Everything settles without I/O, in the order of the calls.
 */
export class CrashFileSystem implements FileSystem {
  readonly #now: () => number;
  readonly #tree: NameTree;
  readonly #faults = new Faults();
  readonly #operations: Operation[] = [];
  #openHandles = 0;

  constructor(options: CrashFileSystemOptions = {}, tree: NameTree = new NameTree()) {
    this.#now = options.now ?? (() => 0);
    this.#tree = tree;
  }

  /** The disk after a loss of power: what was synced, and of the rest what `outcome` leaves (by default nothing). */
  crash(outcome: CrashOutcome = {}): CrashFileSystem {
    return new CrashFileSystem({ now: this.#now }, this.#tree.crashed(outcome));
  }
  /** The disk after `kill -9` of the process: nothing is lost, but what was not synced can still be lost by a later `crash`. */
  kill(): CrashFileSystem {
    return new CrashFileSystem({ now: this.#now }, this.#tree.copied());
  }

  /** Makes matching operations fail with Node's `code`. The returned function ends it ("there is space again"). */
  fail(pattern: OperationPattern, code: string, options: FailureOptions = {}): () => void {
    return this.#faults.fail(pattern, code, options);
  }
  /** Makes the next matching operation wait for `release`. */
  hold(pattern: OperationPattern): Hold {
    return this.#faults.hold(pattern);
  }
  /** The process ends just before operation `index` of the log: that one and all later ones have no effect and never settle. */
  stopAt(index: number): void {
    this.#faults.stopAt(index);
  }
  /** Settles once an operation was stopped by {@link stopAt}. */
  get stopped(): Promise<void> {
    return this.#faults.stopped;
  }

  /** Every operation that was called, in order. */
  get operations(): readonly Operation[] {
    return this.#operations;
  }
  /** Handles that were opened and not closed. */
  get openHandles(): number {
    return this.#openHandles;
  }
  /** Every file and folder that the running system sees, sorted; folders end in `/`. */
  paths(): string[] {
    return this.#tree.paths();
  }

  async open(path: string, mode: 'create' | 'append' | 'read'): Promise<FileHandle> {
    await this.#step({ op: 'open', path });
    const found = this.#tree.find(path, 'open');
    if (found?.kind === 'directory') throw new FileError(mode === 'create' ? 'EEXIST' : 'EISDIR', 'open', path);
    if (found !== undefined && mode === 'create') throw new FileError('EEXIST', 'open', path);
    if (found === undefined && mode === 'read') throw new FileError('ENOENT', 'open', path);
    const file = found ?? new FileNode(this.#now());
    if (found === undefined) this.#tree.set(path, file, 'open');
    this.#openHandles++;
    return this.#handle(file, path, mode !== 'read');
  }

  async readFile(path: string): Promise<Uint8Array> {
    await this.#step({ op: 'readFile', path });
    const file = this.#tree.get(path, 'readFile');
    if (file.kind === 'directory') throw new FileError('EISDIR', 'readFile', path);
    return file.slice(0, file.length);
  }

  async readDirectory(path: string): Promise<readonly DirectoryEntry[]> {
    await this.#step({ op: 'readDirectory', path });
    const folder = this.#tree.folder(path, 'readDirectory');
    return Array.from(folder.entries, ([name, { kind }]) => ({ name, kind }));
  }

  stat(path: string): Promise<FileStat> {
    return this.#stat('stat', path);
  }
  /** The same as `stat`: there are no links. */
  lstat(path: string): Promise<FileStat> {
    return this.#stat('lstat', path);
  }
  async #stat(op: 'stat' | 'lstat', path: string): Promise<FileStat> {
    await this.#step({ op, path });
    const node = this.#tree.get(path, op);
    if (node.kind === 'directory') return { kind: 'directory', size: 0, modifiedMs: 0 };
    return { kind: 'file', size: node.length, modifiedMs: node.modifiedMs };
  }

  /** It has no links. */
  async realPath(path: string): Promise<string> {
    await this.#step({ op: 'realPath', path });
    this.#tree.get(path, 'realPath');
    return posix.resolve('/', path);
  }

  async makeDirectory(path: string): Promise<'created' | 'exists'> {
    await this.#step({ op: 'makeDirectory', path });
    const found = this.#tree.find(path, 'makeDirectory');
    if (found?.kind === 'directory') return 'exists';
    if (found !== undefined) throw new FileError('EEXIST', 'makeDirectory', path);
    this.#tree.set(path, newFolder(), 'makeDirectory');
    return 'created';
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step({ op: 'rename', path: from, to });
    this.#tree.rename(from, to);
  }

  async remove(path: string): Promise<void> {
    await this.#step({ op: 'remove', path });
    const node = this.#tree.find(path, 'remove');
    if (node?.kind === 'directory') throw new FileError('EISDIR', 'remove', path);
    if (node !== undefined) this.#tree.set(path, undefined, 'remove');
  }

  /** Child by child, each a step of its own, so that a process can be stopped half way. */
  async removeTree(path: string): Promise<void> {
    await this.#step({ op: 'removeTree', path });
    const node = this.#tree.find(path, 'removeTree');
    if (node === undefined) return;
    if (node.kind === 'directory') {
      for (const name of [...node.entries.keys()]) await this.removeTree(`${path}/${name}`);
    }
    this.#tree.set(path, undefined, 'removeTree');
  }

  async syncDirectory(path: string): Promise<void> {
    await this.#step({ op: 'syncDirectory', path });
    this.#tree.sync(this.#tree.folder(path, 'syncDirectory'));
  }

  #handle(file: FileNode, path: string, writable: boolean): FileHandle {
    let open = true;
    const call = (op: Operation['op'], allowed: boolean, bytes?: number): Omit<Operation, 'index'> => {
      if (!open || !allowed) throw new FileError('EBADF', op, path);
      return { op, path, bytes };
    };
    return {
      write: async (bytes) => {
        // The bytes are taken after the wait, as a real disk does: a caller that reuses them meanwhile is found out.
        const fault = await this.#ask(call('write', writable, bytes.length));
        file.append(fault === undefined ? bytes : bytes.subarray(0, fault.bytes));
        file.modifiedMs = this.#now();
        if (fault !== undefined) throw fault.error;
      },
      read: async (position, length) => {
        await this.#step(call('read', !writable));
        return file.slice(position, position + length);
      },
      sync: async () => {
        await this.#step(call('sync', true));
        file.sync();
      },
      truncate: async (length) => {
        await this.#step(call('truncate', writable));
        file.truncate(length);
        file.modifiedMs = this.#now();
      },
      close: async () => {
        await this.#step(call('close', true));
        open = false;
        this.#openHandles--;
      },
    };
  }

  async #step(call: Omit<Operation, 'index'>): Promise<void> {
    const fault = await this.#ask(call);
    if (fault !== undefined) throw fault.error;
  }
  #ask(call: Omit<Operation, 'index'>): Promise<Fault | undefined> {
    const operation = { index: this.#operations.length, ...call };
    this.#operations.push(operation);
    return this.#faults.before(operation);
  }
}
