import path from 'node:path';
import type { CheckpointId, FileSystem, SinkWriter, SinkWriterContext, SnapshotKind } from '@weir/core/contracts';
import type { StartFile } from '../format/encoder.js';
import type { FileNames } from './file-names.js';
import { OutputFile } from './output-file.js';
import type { OutputFolder } from './output-folder.js';
import type { PreparedFile } from './prepared-file.js';

export interface FileWriterOptions<T> {
  readonly fileSystem: FileSystem;
  readonly dir: string;
  readonly folder: OutputFolder;
  readonly startFile: StartFile<T>;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  readonly context: SinkWriterContext;
}
interface WrittenFile {
  readonly names: FileNames;
  readonly file: OutputFile;
}
interface CurrentFile<T> extends WrittenFile {
  readonly encode: ReturnType<StartFile<T>>;
  readonly cancelRoll: () => void;
}

/**
 * Writes one file after the other. A file ends when it is large or old enough and at each checkpoint, and gets its pending name only there:
 * files that no checkpoint can know of say by their names that they may be deleted.
 */
export class FileWriter<T> implements SinkWriter<T, PreparedFile> {
  readonly #options: FileWriterOptions<T>;
  #current: CurrentFile<T> | undefined;
  /** Ended, but not handed to a checkpoint yet. */
  #rolled: WrittenFile[] = [];
  /** While a file ends because it is old enough. */
  #rolling: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #sequence = 0;

  constructor(options: FileWriterOptions<T>) {
    this.#options = options;
  }

  write(batch: readonly T[]): void | Promise<void> {
    if (this.#rolling !== undefined) return this.#rolling.then(() => this.write(batch));
    this.#throwFailure();
    if (batch.length === 0) return;
    const current = (this.#current ??= this.#start());
    const waited = current.file.write(current.encode(batch));
    return current.file.length < this.#options.maxBytes ? waited : this.#roll();
  }

  async prepareCommit(_checkpointId: CheckpointId, kind: SnapshotKind): Promise<readonly PreparedFile[]> {
    await this.#rolling;
    this.#throwFailure();
    await this.#endCurrent();
    await this.#options.folder.beforeBarrier(kind);
    return this.#prepareRolled();
  }

  async close(): Promise<void> {
    await this.#rolling;
    const abandoned = this.#current === undefined ? this.#rolled : [...this.#rolled, this.#current];
    this.#current?.cancelRoll();
    this.#current = undefined;
    this.#rolled = [];
    for (const { file } of abandoned) await file.abandon();
  }

  #start(): CurrentFile<T> {
    const { fileSystem, dir, folder, startFile, maxAgeMs, context } = this.#options;
    const names = folder.naming.names(context.subtask, this.#sequence++);
    const file = new OutputFile(fileSystem, path.join(dir, names.inProgress));
    const cancelRoll = context.clock.timer(maxAgeMs, () => {
      this.#rolling = this.#roll()
        // It is kept, and thrown by the next call.
        .catch(() => undefined)
        .finally(() => {
          this.#rolling = undefined;
        });
    });
    return { names, file, encode: startFile(), cancelRoll };
  }

  async #roll(): Promise<void> {
    await this.#endCurrent();
    const { context } = this.#options;
    if (context.checkpointing) return;
    const prepared = await this.#prepareRolled();
    await this.#orFailed(context.commitNow(prepared));
  }

  async #endCurrent(): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    current.cancelRoll();
    this.#rolled.push(current);
    await this.#orFailed(current.file.finish());
  }

  async #prepareRolled(): Promise<readonly PreparedFile[]> {
    const rolled = this.#rolled;
    this.#rolled = [];
    if (rolled.length > 0) await this.#orFailed(this.#makePending(rolled));
    return rolled.map(({ names: { pending, final }, file: { length } }) => ({ pending, final, length }));
  }

  async #makePending(files: readonly WrittenFile[]): Promise<void> {
    const { fileSystem, dir, folder } = this.#options;
    try {
      for (const { names } of files)
        await fileSystem.rename(path.join(dir, names.inProgress), path.join(dir, names.pending));
    } catch (error) {
      // Whoever has taken the folder over has removed them.
      await folder.verify();
      throw error;
    }
    // The bytes are durable already; a checkpoint may rely on the files only when their names are, too.
    await fileSystem.syncDirectory(dir);
  }

  /** After a failure nobody knows what is on the disk, so there is no going on. */
  async #orFailed(step: Promise<void>): Promise<void> {
    try {
      await step;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
