import { join } from 'node:path';
import { WeirError, type FileSystem } from '@weir/core/contracts';
import { hasCode } from './failure.js';
import { isBlobName, sharedFolder } from './layout.js';

/** The files that several checkpoints of a job are made of. There is no folder before there is such a file. */
export class SharedFolder {
  readonly path: string;
  readonly #fileSystem: FileSystem;
  #making: Promise<unknown> | undefined;

  constructor(fileSystem: FileSystem, jobFolder: string) {
    this.path = sharedFolder(jobFolder);
    this.#fileSystem = fileSystem;
  }

  /** Its name is as durable as that of the checkpoint beside it: both are before the `_metadata` that needs them is published. */
  async make(): Promise<void> {
    this.#making ??= this.#fileSystem.makeDirectory(this.path);
    try {
      await this.#making;
    } catch (error) {
      this.#making = undefined;
      throw error;
    }
  }

  /** Makes the names of finished files durable. */
  async sync(): Promise<void> {
    if (this.#making !== undefined) await this.#fileSystem.syncDirectory(this.path);
  }

  async list(): Promise<readonly string[]> {
    try {
      const entries = await this.#fileSystem.readDirectory(this.path);
      // What nobody here has named is not ours to remove.
      return entries.filter(({ name, kind }) => kind === 'file' && isBlobName(name)).map(({ name }) => name);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    if (!isBlobName(name))
      throw new WeirError('STORAGE_FAILED', `${JSON.stringify(name)} is no name of a shared file.`);
    await this.#fileSystem.remove(join(this.path, name));
  }
}
