import { join } from 'node:path';
import { WeirError, type FileSystem } from '@weir/core/contracts';
import { isBlobName, sharedFolder } from './layout.js';
import { requireFolder } from './plain-file.js';

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

  /** Fails if it is no folder: through a link, files of somebody else's would be taken for ours, and removed. */
  async list(): Promise<readonly string[]> {
    if (!(await requireFolder(this.#fileSystem, this.path))) return [];
    const entries = await this.#fileSystem.readDirectory(this.path);
    // What nobody here has named is not ours to remove.
    return entries.filter(({ name, kind }) => kind === 'file' && isBlobName(name)).map(({ name }) => name);
  }

  async remove(name: string): Promise<void> {
    if (!isBlobName(name))
      throw new WeirError('STORAGE_FAILED', `${JSON.stringify(name)} is no name of a shared file.`);
    await this.#fileSystem.remove(join(this.path, name));
  }
}
