import { dirname } from 'node:path';
import {
  WeirError,
  type BlobWriter,
  type ByteWriterPool,
  type CheckpointId,
  type CheckpointLocation,
  type FileSystem,
  type JobName,
} from '@weir/core/contracts';
import { FsBlobWriter, type BlobLimits, type BlobPlace } from './blob-writer.js';
import { publishFile, removeCheckpoint } from './durable.js';
import { nameOf, storageFailed } from './failure.js';
import { METADATA, privateBlob } from './layout.js';
import type { SharedFolder } from './shared-folder.js';

export interface LocationPlace {
  readonly fileSystem: FileSystem;
  readonly job: JobName;
  readonly limits: BlobLimits;
  readonly buffers: ByteWriterPool;
  readonly newId: () => string;
}

/** The folder of one pending checkpoint, and what it adds to the folder that all of them share. */
export class FsCheckpointLocation implements CheckpointLocation {
  readonly id: CheckpointId;
  readonly pointer: string;
  readonly createSharedBlob?: (key: string) => BlobWriter;
  readonly sharedFiles: Set<string> = new Set();
  readonly #place: LocationPlace;
  readonly #shared: SharedFolder | undefined;
  /** Holds the folder of this checkpoint. */
  readonly #above: string;
  readonly #owner: string;
  readonly #openBlobs = new Set<FsBlobWriter>();
  /** `failed`: publishing did not settle well, and `_metadata` may be there or not. */
  #state: 'open' | 'publishing' | 'published' | 'failed' | 'discarded' = 'open';
  #publication: Promise<void> | undefined;
  #discarding: Promise<void> | undefined;

  /** Without `shared` it is that of a savepoint, which has nothing in common with others. */
  constructor(place: LocationPlace, id: CheckpointId, folder: string, shared?: SharedFolder) {
    this.#place = place;
    this.id = id;
    this.pointer = folder;
    this.#above = dirname(folder);
    this.#owner = nameOf(id, place.job);
    this.#shared = shared;
    if (shared !== undefined) this.createSharedBlob = (key) => this.#createShared(shared, key);
  }

  get complete(): boolean {
    return this.#state === 'published';
  }

  createBlob(): BlobWriter {
    return this.#create({ folder: this.pointer, name: privateBlob(this.#place.newId()) });
  }

  #createShared(shared: SharedFolder, sharedKey: string): BlobWriter {
    const name = this.#place.newId();
    const blob = this.#create({ folder: shared.path, name, sharedKey, makeFolder: () => shared.make() });
    this.sharedFiles.add(name);
    return blob;
  }

  #create(file: Pick<BlobPlace, 'folder' | 'name' | 'sharedKey' | 'makeFolder'>): FsBlobWriter {
    this.#assertOpen();
    const blob: FsBlobWriter = new FsBlobWriter({
      ...this.#place.limits,
      ...file,
      buffers: this.#place.buffers,
      fileSystem: this.#place.fileSystem,
      owner: this.#owner,
      isRetained: () => this.#state === 'publishing' || this.complete,
      onClosed: () => this.#openBlobs.delete(blob),
    });
    this.#openBlobs.add(blob);
    return blob;
  }

  async publish(metadata: Uint8Array): Promise<void> {
    this.#assertOpen();
    if (this.#openBlobs.size > 0) {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        `Publishing ${this.#owner} with ${String(this.#openBlobs.size)} unfinished blobs: finish or abort them before.`,
      );
    }
    this.#state = 'publishing';
    this.#publication = this.#publish(metadata);
    await this.#publication;
  }

  async #publish(metadata: Uint8Array): Promise<void> {
    const { fileSystem, newId } = this.#place;
    try {
      // The names of the blobs become durable (their bytes are, since they are finished), and so do the names of their folders. Only then does
      // `_metadata` appear: at no moment does it speak of something that a crash can take away.
      const names = [fileSystem.syncDirectory(this.pointer), fileSystem.syncDirectory(this.#above)];
      if (this.sharedFiles.size > 0 && this.#shared !== undefined) names.push(this.#shared.sync());
      await publishFile(fileSystem, {
        folder: this.pointer,
        name: METADATA,
        bytes: metadata,
        random: newId(),
        after: names,
      });
      this.#state = 'published';
    } catch (cause) {
      this.#state = 'failed';
      throw storageFailed(`Publishing ${this.#owner}`, cause);
    }
  }

  async discard(): Promise<void> {
    this.#discarding ??= this.#discard();
    try {
      await this.#discarding;
    } catch (error) {
      this.#discarding = undefined;
      throw error;
    }
  }

  async #discard(): Promise<void> {
    await this.#publication?.catch(() => undefined);
    if (this.complete) {
      throw new WeirError('STORAGE_FAILED', `Discarding ${this.#owner}, which is complete: delete it instead.`);
    }
    this.#state = 'discarded';
    const { fileSystem } = this.#place;
    try {
      await Promise.all([...this.#openBlobs].map((blob) => blob.abort()));
      if (this.#publication === undefined) await fileSystem.removeTree(this.pointer);
      else await removeCheckpoint(fileSystem, this.pointer);
      // Behind `_metadata`, which nobody knows to be missing once publishing was tried.
      for (const name of this.sharedFiles) await this.#shared?.remove(name);
    } catch (cause) {
      throw storageFailed(`Discarding ${this.#owner}`, cause);
    }
  }

  #assertOpen(): void {
    if (this.#state === 'open') return;
    throw new WeirError('STORAGE_FAILED', `${this.#owner} is ${this.#state}: nothing more can be written to it.`);
  }
}
