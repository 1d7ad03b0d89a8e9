import { join } from 'node:path';
import { hasCode, type FileSystem } from '@weir/core/contracts';
import { LOCK, temporaryLock } from '../layout.js';
import { requireFolder } from '../plain-file.js';
import { formatEntry, parseEntry, type LockEntry } from './lock-entry.js';

/**
 * The lock is a folder with one entry, an empty file whose name says everything: there is nothing in it that could be torn.
 * It changes by renaming that entry, which is a compare-and-set: the name of an owner's entry is unique, so of two processes that both saw
 * a dead owner only one can rename its entry, and one that comes late finds the name gone. The folder itself first appears by renaming a
 * prepared one to its place, which fails if another one is there and holds an entry (and replaces an empty one, which a crash may leave).
 */
export class LockRegister {
  readonly #fs: FileSystem;
  readonly #jobFolder: string;
  readonly #folder: string;

  constructor(fs: FileSystem, jobFolder: string) {
    this.#fs = fs;
    this.#jobFolder = jobFolder;
    this.#folder = join(jobFolder, LOCK);
  }

  get path(): string {
    return this.#folder;
  }

  /** Usually one entry; none before the first owner, more only if a crash brought back old names. */
  async read(): Promise<readonly LockEntry[]> {
    if (!(await requireFolder(this.#fs, this.#folder))) return [];
    try {
      const names = await this.#fs.readDirectory(this.#folder);
      return names.map(({ name }) => parseEntry(name)).filter((entry) => entry !== undefined);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  /** Makes the lock, with `entry` in it. False if another process was first. */
  async create(entry: LockEntry, random: string): Promise<boolean> {
    const prepared = join(this.#jobFolder, temporaryLock(random));
    try {
      await this.#fs.makeDirectory(prepared);
      await (await this.#fs.open(join(prepared, formatEntry(entry)), 'create')).close();
      await this.#fs.rename(prepared, this.#folder);
      return true;
    } catch (error) {
      await this.#fs.removeTree(prepared).catch(() => undefined);
      if ((await this.read()).length > 0) return false;
      throw error;
    }
  }

  /** Puts `to` in the place of `from`. False if `from` is not the entry any more. */
  async replace(from: LockEntry, to: LockEntry): Promise<boolean> {
    try {
      await this.#fs.rename(this.#pathOf(from), this.#pathOf(to));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  async has(entry: LockEntry): Promise<boolean> {
    try {
      await this.#fs.stat(this.#pathOf(entry));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  async remove(entry: LockEntry): Promise<void> {
    await this.#fs.remove(this.#pathOf(entry));
  }

  /** What the lock says survives a crash of the machine; its own name does since it was taken. Only the attempt needs to: with the machine every owner dies. */
  async sync(): Promise<void> {
    await this.#fs.syncDirectory(this.#folder);
  }

  #pathOf(entry: LockEntry): string {
    return join(this.#folder, formatEntry(entry));
  }
}
