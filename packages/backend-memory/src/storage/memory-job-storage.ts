import { crc32 } from 'node:zlib';
import { WeirError } from '@weir/core/contracts';
import type {
  BlobHandle,
  BlobPart,
  CheckpointId,
  CheckpointLocation,
  FileBlob,
  JobStorage,
  SharedBlob,
  StorageLock,
  StoredCheckpoint,
} from '@weir/core/contracts';
import { MemoryLocation } from './memory-location.js';
import { MemoryLock } from './memory-lock.js';
import { checkpointPlace, describe, nameOf, pointerTo, savepointPlace } from './stored-job.js';
import type { CheckpointPlace, StoredJob, StoredSavepoints } from './stored-job.js';

/** The checkpoints of one job. What it gives away are copies: nobody can change what is stored. */
export class MemoryJobStorage implements JobStorage {
  readonly #job: StoredJob;
  readonly #savepoints: StoredSavepoints;
  readonly #maxStateSize: number;

  constructor(job: StoredJob, savepoints: StoredSavepoints, maxStateSize: number) {
    this.#job = job;
    this.#savepoints = savepoints;
    this.#maxStateSize = maxStateSize;
  }

  async lock({ signal }: { readonly signal: AbortSignal }): Promise<StorageLock> {
    signal.throwIfAborted();
    return new MemoryLock(this.#job);
  }

  async list(): Promise<readonly StoredCheckpoint[]> {
    return [...this.#job.checkpoints.keys()].sort((a, b) => a - b).map((id) => describe(this.#job, id));
  }
  async resolve(pointer: string): Promise<StoredCheckpoint> {
    const wanted = pointer.replace(/(\/_metadata)?\/?$/, '');
    const found = (await this.list()).find((checkpoint) => checkpoint.complete && checkpoint.pointer === wanted);
    if (found !== undefined) return found;
    // Whose it is, and so its id, is for its metadata to say.
    if (this.#savepoints.get(wanted)?.metadata !== undefined) return { id: 0, pointer: wanted, complete: true };
    throw new WeirError(
      'CHECKPOINT_NONE',
      `There is no completed checkpoint ${pointer} of job ${this.#job.name} in memory.`,
    );
  }
  async create(id: CheckpointId): Promise<CheckpointLocation> {
    if (!this.#job.checkpoints.has(id))
      return new MemoryLocation(checkpointPlace(this.#job, id), this.#maxStateSize, this.#job);
    throw new WeirError(
      'STORAGE_FAILED',
      `There is a ${nameOf(this.#job, id)} already. Ids must be above all that are present.`,
    );
  }

  async createSavepoint(id: CheckpointId, directory: string): Promise<CheckpointLocation> {
    const folder = `memory:${directory}/savepoint-${encodeURIComponent(this.#job.name)}`;
    // Deleted ones leave gaps.
    let number = this.#savepoints.size + 1;
    while (this.#savepoints.has(`${folder}-${number}`)) number++;
    const place = savepointPlace(this.#job, this.#savepoints, id, `${folder}-${number}`);
    return new MemoryLocation(place, this.#maxStateSize);
  }

  async readMetadata(checkpoint: StoredCheckpoint): Promise<Uint8Array> {
    const place = this.#placeOf(checkpoint);
    const metadata = place.get()?.metadata;
    if (metadata !== undefined) return Uint8Array.from(metadata);
    throw new WeirError('CHECKPOINT_UNREADABLE', `${place.name} has no metadata: it was never completed, or deleted.`);
  }
  async read(checkpoint: StoredCheckpoint, blob: BlobHandle): Promise<Uint8Array> {
    if (blob.kind === 'inline') return Uint8Array.from(blob.bytes);
    const place = this.#placeOf(checkpoint);
    const bytes = this.#find(place, blob);
    const fault =
      bytes === undefined
        ? 'is missing'
        : bytes.length !== blob.length
          ? `has ${bytes.length} bytes instead of ${blob.length}`
          : crc32(bytes) !== blob.checksum
            ? 'has another checksum'
            : undefined;
    if (fault === undefined) return Uint8Array.from(bytes!);
    throw new WeirError('CHECKPOINT_UNREADABLE', `${blob.path} of ${place.name} ${fault}.`);
  }
  async readPart(
    checkpoint: StoredCheckpoint,
    blob: FileBlob | SharedBlob,
    { offset, length }: BlobPart,
  ): Promise<Uint8Array> {
    const place = this.#placeOf(checkpoint);
    const bytes = this.#find(place, blob);
    if (bytes !== undefined && bytes.length >= offset + length)
      return Uint8Array.from(bytes.subarray(offset, offset + length));
    const fault = bytes === undefined ? 'is missing' : `ends before byte ${offset + length}`;
    throw new WeirError('CHECKPOINT_UNREADABLE', `${blob.path} of ${place.name} ${fault}.`);
  }
  async listShared(): Promise<readonly string[]> {
    return [...this.#job.shared.keys()];
  }
  async deleteShared(path: string): Promise<void> {
    this.#job.shared.delete(path);
  }
  async delete(checkpoint: StoredCheckpoint): Promise<void> {
    this.#placeOf(checkpoint).remove();
  }

  async readCommitted(checkpoint: StoredCheckpoint): Promise<Uint8Array | undefined> {
    const committed = this.#placeOf(checkpoint).get()?.committed;
    return committed && Uint8Array.from(committed);
  }
  async writeCommitted(checkpoint: StoredCheckpoint, bytes: Uint8Array): Promise<void> {
    const place = this.#placeOf(checkpoint);
    const stored = place.get();
    if (stored?.metadata === undefined)
      throw new WeirError('STORAGE_FAILED', `The output of ${place.name} was committed, but it is not there.`);
    stored.committed = Uint8Array.from(bytes);
  }
  async readFinished(): Promise<Uint8Array | undefined> {
    return this.#job.finished && Uint8Array.from(this.#job.finished);
  }
  async writeFinished(bytes: Uint8Array): Promise<void> {
    this.#job.finished = Uint8Array.from(bytes);
  }
  async clearFinished(): Promise<void> {
    this.#job.finished = undefined;
  }
  async close(): Promise<void> {
    // What is stored stays for the next run.
  }

  #find(place: CheckpointPlace, { kind, path }: FileBlob | SharedBlob): Uint8Array | undefined {
    return kind === 'shared' ? this.#job.shared.get(path) : place.get()?.blobs.get(path);
  }

  /** The id alone does not tell a savepoint from the checkpoint whose id it shares. */
  #placeOf({ id, pointer }: StoredCheckpoint): CheckpointPlace {
    return pointer === pointerTo(this.#job, id)
      ? checkpointPlace(this.#job, id)
      : savepointPlace(this.#job, this.#savepoints, id, pointer);
  }
}
