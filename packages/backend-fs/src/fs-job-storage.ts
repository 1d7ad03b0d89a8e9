import { dirname, join } from 'node:path';
import {
  hasCode,
  WeirError,
  makeDurableFolder,
  syncIfAllowed,
  type BlobHandle,
  type BlobPart,
  type CheckpointId,
  type CheckpointLocation,
  type FileBlob,
  type JobStorage,
  type SharedBlob,
  type StorageLock,
  type StorageScope,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import type { ProcessTable } from './adapters/process-identity.js';
import { FsCheckpointLocation, type LocationPlace } from './checkpoint-location.js';
import { publishFile, removeCheckpoint } from './durable.js';
import { nameOf, readFailed, storageFailed } from './failure.js';
import {
  COMMITTED,
  FINISHED,
  METADATA,
  checkpointFolder,
  isOfCheckpoint,
  isTemporary,
  pathOf,
  savepointFolder,
} from './layout.js';
import { listCheckpoints } from './list-checkpoints.js';
import { FsStorageLock } from './lock/fs-storage-lock.js';
import { LockRegister } from './lock/lock-register.js';
import { takeLock } from './lock/take-lock.js';
import { kindAt, requireFile, requireFolder } from './plain-file.js';
import { readBlob, readBlobPart } from './read-blob.js';
import { resolvePointer } from './resolve-pointer.js';
import { SharedFolder } from './shared-folder.js';

export interface JobPlace extends LocationPlace {
  readonly jobFolder: string;
  /** Where savepoints go that nobody gives a directory. */
  readonly savepointsFolder: string | undefined;
  readonly processes: ProcessTable;
}

/** Names tried for a savepoint, as in Flink. */
const MOST_TRIES = 10;

/** One job's folder. */
export class FsJobStorage implements JobStorage {
  readonly #place: JobPlace;
  readonly #scope: StorageScope;
  readonly #shared: SharedFolder;
  #folder: Promise<void> | undefined;
  #lock: StorageLock | undefined;

  constructor(place: JobPlace, scope: StorageScope) {
    this.#place = place;
    this.#scope = scope;
    this.#shared = new SharedFolder(place.fileSystem, place.jobFolder);
  }

  async lock(options: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<StorageLock> {
    const { fileSystem, job, jobFolder, processes, newId } = this.#place;
    options.signal.throwIfAborted();
    await this.#makeJobFolder();
    const register = new LockRegister(fileSystem, jobFolder);
    try {
      const entry = await takeLock({ register, job, clock: this.#scope.clock, processes, newId, ...options });
      await this.#sweep();
      // A dead process may have renamed and died before the sync. What is seen from now on is there for good.
      await fileSystem.syncDirectory(jobFolder);
      this.#lock = new FsStorageLock(register, job, entry);
      return this.#lock;
    } catch (cause) {
      if (options.signal.aborted) throw cause;
      throw storageFailed(`Locking job ${job} in ${jobFolder}`, cause);
    }
  }

  async list(): Promise<readonly StoredCheckpoint[]> {
    return this.#try('Listing the checkpoints', () => listCheckpoints(this.#place.fileSystem, this.#place.jobFolder));
  }

  resolve(pointer: string): Promise<StoredCheckpoint> {
    return resolvePointer(this.#place.fileSystem, pointer);
  }

  async create(checkpointId: CheckpointId): Promise<CheckpointLocation> {
    const { fileSystem, job, jobFolder } = this.#place;
    const folder = checkpointFolder(jobFolder, checkpointId);
    await this.#makeJobFolder();
    const made = await this.#try(`Making room for checkpoint ${String(checkpointId)}`, () =>
      fileSystem.makeDirectory(folder),
    );
    if (made === 'exists') {
      throw new WeirError(
        'STORAGE_FAILED',
        `${folder} exists: the id of ${nameOf(checkpointId, job)} is taken. Ids must be above all that are present.`,
      );
    }
    return new FsCheckpointLocation(this.#place, checkpointId, folder, this.#shared);
  }

  get savepointDirectory(): string | undefined {
    return this.#place.savepointsFolder;
  }

  async createSavepoint(checkpointId: CheckpointId, directory: string): Promise<CheckpointLocation> {
    const { fileSystem, job, newId } = this.#place;
    const above = pathOf(directory, 'The directory for the savepoint');
    const folder = await this.#try(`Making room for savepoint ${String(checkpointId)} in ${above}`, async () => {
      await makeDurableFolder(fileSystem, above);
      for (let tries = 1; ; tries++) {
        const random = savepointFolder(above, job, newId());
        if ((await fileSystem.makeDirectory(random)) !== 'exists') return random;
        if (tries === MOST_TRIES) throw new Error(`${String(tries)} random names were taken, the last was ${random}`);
      }
    });
    return new FsCheckpointLocation(this.#place, checkpointId, folder);
  }

  async readMetadata(checkpoint: StoredCheckpoint): Promise<Uint8Array> {
    const { fileSystem } = this.#place;
    const path = join(checkpoint.pointer, METADATA);
    try {
      // A user's path may be a link; what lies in the job's own folder is what weir has put there.
      if (this.#isInside(checkpoint)) await requireFolder(fileSystem, checkpoint.pointer);
      await requireFile(fileSystem, path);
      const bytes = await fileSystem.readFile(path);
      await syncIfAllowed(fileSystem, checkpoint.pointer);
      return bytes;
    } catch (cause) {
      throw readFailed(`${path} of ${nameOf(checkpoint.id, this.#place.job)} cannot be read`, cause);
    }
  }

  read(checkpoint: StoredCheckpoint, blob: BlobHandle): Promise<Uint8Array> {
    return readBlob(this.#place.fileSystem, this.#place.job, checkpoint, blob);
  }

  readPart(checkpoint: StoredCheckpoint, blob: FileBlob | SharedBlob, part: BlobPart): Promise<Uint8Array> {
    return readBlobPart(this.#place.fileSystem, this.#place.job, checkpoint, blob, part);
  }

  async listShared(): Promise<readonly string[]> {
    return this.#try('Listing the shared files', () => this.#shared.list());
  }

  async deleteShared(path: string): Promise<void> {
    await this.#try(`Deleting the shared file ${path}`, () => this.#shared.remove(path));
  }

  async delete(checkpoint: StoredCheckpoint): Promise<void> {
    const { fileSystem } = this.#place;
    await this.#try(`Deleting checkpoint ${String(checkpoint.id)}`, () =>
      removeCheckpoint(fileSystem, checkpoint.pointer, this.#isInside(checkpoint) ? undefined : isOfCheckpoint),
    );
  }

  readCommitted({ pointer }: StoredCheckpoint): Promise<Uint8Array | undefined> {
    return this.#readMark(pointer, COMMITTED);
  }

  async writeCommitted({ id, pointer }: StoredCheckpoint, bytes: Uint8Array): Promise<void> {
    const { fileSystem, newId } = this.#place;
    await this.#try(`Writing ${COMMITTED} of checkpoint ${String(id)}`, async () => {
      await fileSystem.stat(join(pointer, METADATA));
      await publishFile(fileSystem, { folder: pointer, name: COMMITTED, bytes, random: newId() });
    });
  }

  readFinished(): Promise<Uint8Array | undefined> {
    return this.#readMark(this.#place.jobFolder, FINISHED);
  }

  async writeFinished(bytes: Uint8Array): Promise<void> {
    const { fileSystem, jobFolder, newId } = this.#place;
    await this.#makeJobFolder();
    await this.#try(`Writing ${FINISHED}`, () =>
      publishFile(fileSystem, { folder: jobFolder, name: FINISHED, bytes, random: newId() }),
    );
  }

  async clearFinished(): Promise<void> {
    const { fileSystem, jobFolder } = this.#place;
    await this.#try(`Removing ${FINISHED}`, async () => {
      await fileSystem.remove(join(jobFolder, FINISHED));
      try {
        await fileSystem.syncDirectory(jobFolder);
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
      }
    });
  }

  /** Gives a lock back that was not released: who cannot write any more keeps nobody out. */
  async close(): Promise<void> {
    await this.#lock?.release();
  }

  /** Of the job's own folder, in which nothing lies that weir has not put there. A claimed one may lie among files of the user's. */
  #isInside({ pointer }: StoredCheckpoint): boolean {
    return dirname(pointer) === this.#place.jobFolder;
  }

  async #makeJobFolder(): Promise<void> {
    this.#folder ??= this.#try('Making the folder', () =>
      makeDurableFolder(this.#place.fileSystem, this.#place.jobFolder),
    );
    try {
      await this.#folder;
    } catch (error) {
      this.#folder = undefined;
      throw error;
    }
  }

  async #readMark(folder: string, name: string): Promise<Uint8Array | undefined> {
    const { fileSystem, job } = this.#place;
    const path = join(folder, name);
    try {
      if ((await kindAt(fileSystem, path)) === 'absent') return undefined;
      await requireFile(fileSystem, path);
      return await fileSystem.readFile(path);
    } catch (cause) {
      throw readFailed(`${path}, a mark of job ${job}, cannot be read`, cause, 'Remove it');
    }
  }

  /** What dead processes had not published yet. Only the owner of the lock may: such names of the living are theirs. */
  async #sweep(): Promise<void> {
    const { fileSystem, jobFolder } = this.#place;
    try {
      for (const { name } of await fileSystem.readDirectory(jobFolder)) {
        if (isTemporary(name)) await fileSystem.removeTree(join(jobFolder, name));
      }
    } catch (error) {
      this.#scope.logger.warn(
        { err: error, job: this.#place.job },
        `${jobFolder} holds remains of a dead process that cannot be removed`,
      );
    }
  }

  async #try<T>(doing: string, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (cause) {
      throw storageFailed(`${doing} of job ${this.#place.job} in ${this.#place.jobFolder}`, cause);
    }
  }
}
