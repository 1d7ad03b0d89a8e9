import { WeirError } from '@weir/core/contracts';
import type {
  BlobHandle,
  BlobWriter,
  CheckpointId,
  IncrementalOutput,
  KeyGroupRange,
  KeyedCapture,
  KeyedStateHandle,
  KeyedStateOutput,
  NativeFile,
  Slice,
  StateMeta,
} from '@weir/core/contracts';
import { filesIn, readChunks, removeDirectory } from '../adapters/local-files.js';
import type { LocalFile } from '../adapters/local-files.js';
import type { Generations } from '../cache/generations.js';
import type { Databases } from '../files/databases.js';
import type { FileBase, StoredFiles } from '../files/file-base.js';
import { ENGINE, isLeftOut, isRowFile, nativeOptions } from '../files/native-format.js';
import type { Rows } from '../rows.js';
import { CaptureMoment } from './moment.js';

/** A checkpoint of the database: a directory of hard links to its files. */
class FilesMoment extends CaptureMoment {
  readonly directory: string;
  readonly #rows: Rows;

  constructor(checkpointId: CheckpointId, directory: string, rows: Rows) {
    super(checkpointId);
    this.directory = directory;
    this.#rows = rows;
  }

  protected make(): Promise<void> {
    return this.#rows.database.checkpoint(this.directory);
  }
  protected drop(): void {
    // What cannot be removed now goes with the working directory.
    removeDirectory(this.directory).catch(() => undefined);
  }
}

export interface FilesCaptureOptions {
  readonly checkpointId: CheckpointId;
  readonly range: KeyGroupRange;
  /** By the ids that they have in the rows. */
  readonly states: readonly StateMeta[];
  /** What a new file is known by to all checkpoints of the job, in front of its name. */
  readonly sharedKey: string;
  readonly databases: Databases;
  readonly rows: Rows;
  readonly generations: Generations;
  readonly base: FileBase;
}

/** The files of the database, of which only those are stored that the confirmed base does not have (Flink: RocksIncrementalSnapshotStrategy). */
export class FilesCapture implements KeyedCapture {
  readonly moment: CaptureMoment;
  readonly #moment: FilesMoment;
  readonly #options: FilesCaptureOptions;
  readonly #base: StoredFiles;
  #isWriting = false;

  constructor(options: FilesCaptureOptions) {
    this.#moment = new FilesMoment(options.checkpointId, options.databases.newPlace('checkpoint'), options.rows);
    this.moment = this.#moment;
    this.#options = options;
    this.#base = options.base.files;
  }

  async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
    if (this.#isWriting) throw new WeirError('PROTOCOL_VIOLATION', 'A capture is written only once.');
    this.#isWriting = true;
    const { incremental } = out;
    if (incremental === undefined)
      throw new WeirError('PROTOCOL_VIOLATION', 'An incremental capture needs an output that takes files.');
    await this.#moment.come(this.#options.generations, slice);
    try {
      const files: NativeFile[] = [];
      for (const file of await filesIn(this.#moment.directory)) {
        if (isLeftOut(file.name)) continue;
        files.push({ name: file.name, blob: await this.#store(file, incremental, slice) });
      }
      const { range, states, databases, rows } = this.#options;
      incremental.add({
        range,
        format: 'native',
        engine: ENGINE,
        engineVersion: databases.libraryVersion,
        options: nativeOptions(databases.compression, rows.sequence),
        states,
        watermark: incremental.watermark,
        files,
      });
    } catch (error) {
      // What was closed meanwhile has taken its files along.
      this.#moment.assertWhole();
      throw error;
    }
  }
  written(handles: readonly KeyedStateHandle[]): void {
    this.#options.base.written(this.#options.checkpointId, handles);
  }
  release(): void {
    this.#moment.release();
  }

  async #store(file: LocalFile, incremental: IncrementalOutput, slice: Slice): Promise<BlobHandle> {
    const { sharedKey } = this.#options;
    if (!isRowFile(file.name)) return this.#copy(file, incremental.createBlob(), slice);
    const stored = this.#base.get(file.name);
    if (stored?.length === file.length) return stored;
    return this.#copy(file, incremental.createBlob(`${sharedKey}/${file.name}`), slice);
  }
  async #copy({ name, length }: LocalFile, blob: BlobWriter, slice: Slice): Promise<BlobHandle> {
    for await (const chunk of readChunks(`${this.#moment.directory}/${name}`, length)) {
      await blob.write(chunk);
      this.#moment.assertWhole();
      if (slice.isOver()) await slice.next();
    }
    return blob.finish();
  }
}
