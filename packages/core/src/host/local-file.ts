import { dirname } from 'node:path';
import type { FileHandle, FileSystem } from '../contracts/file-system.js';
import { hasCode } from '../errors.js';

/** Collected before the disk is asked: what a snapshot consists of comes in small pieces. */
const BUFFER_BYTES = 64 * 1024;

/**
 * A file beside one that counts: written under a name of its own, moved to its place once it is whole, not synced, as it is verified before it is
 * used. Nothing here fails: the first error is told, and from then on there is no file.
 */
export class LocalFile {
  readonly #fileSystem: FileSystem;
  readonly #temporary: string;
  readonly #onFailure: (error: unknown) => void;
  #buffer: Uint8Array | undefined;
  #used = 0;
  #file: FileHandle | undefined;
  #isOnDisk = false;
  #hasFailed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(fileSystem: FileSystem, temporary: string, onFailure: (error: unknown) => void) {
    this.#fileSystem = fileSystem;
    this.#temporary = temporary;
    this.#onFailure = onFailure;
  }

  /** The caller may use `chunk` again once the promise has settled, or at once if there is none. */
  write(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#hasFailed) return undefined;
    this.#buffer ??= new Uint8Array(BUFFER_BYTES);
    if (this.#used + chunk.length <= BUFFER_BYTES) {
      this.#buffer.set(chunk, this.#used);
      this.#used += chunk.length;
      return undefined;
    }
    return this.#step(async () => {
      await this.#flush();
      await (await this.#opened()).write(chunk);
    });
  }

  /** Puts what was written to its place. */
  publish(path: string): Promise<void> {
    return this.#step(async () => {
      await this.#flush();
      await (await this.#opened()).close();
      this.#file = undefined;
      await makeFolders(this.#fileSystem, dirname(path));
      await this.#fileSystem.rename(this.#temporary, path);
      this.#isOnDisk = false;
    });
  }

  /** Removes what was written. Idempotent. */
  async drop(): Promise<void> {
    this.#hasFailed = true;
    await this.#last;
    await this.#remove();
  }

  /** One after the other. */
  #step(action: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#hasFailed) return;
      try {
        await action();
      } catch (error) {
        this.#hasFailed = true;
        this.#onFailure(error);
        await this.#remove();
      }
    });
    return this.#last;
  }

  async #opened(): Promise<FileHandle> {
    if (this.#file !== undefined) return this.#file;
    await makeFolders(this.#fileSystem, dirname(this.#temporary));
    this.#isOnDisk = true;
    return (this.#file = await this.#fileSystem.open(this.#temporary, 'create'));
  }

  async #flush(): Promise<void> {
    if (this.#buffer === undefined || this.#used === 0) return;
    await (await this.#opened()).write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  async #remove(): Promise<void> {
    if (!this.#isOnDisk) return;
    this.#isOnDisk = false;
    const file = this.#file;
    this.#file = undefined;
    // What cannot be removed now goes with the next clean-up.
    await file?.close().catch(() => undefined);
    await this.#fileSystem.remove(this.#temporary).catch(() => undefined);
  }
}

async function makeFolders(fileSystem: FileSystem, path: string): Promise<void> {
  try {
    await fileSystem.makeDirectory(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error;
    await makeFolders(fileSystem, dirname(path));
    await fileSystem.makeDirectory(path);
  }
}
