import { crc32 } from 'node:zlib';
import { WeirError } from '@weir/core/contracts';
import type {
  BlobHandle,
  CheckpointId,
  CheckpointLocation,
  JobStorage,
  StorageLock,
  StoredCheckpoint,
} from '@weir/core/contracts';
import { MemoryLocation } from './memory-location.js';
import { MemoryLock } from './memory-lock.js';
import { describe, nameOf } from './stored-job.js';
import type { StoredJob } from './stored-job.js';

/** The checkpoints of one job. What it gives away are copies: nobody can change what is stored. */
export class MemoryJobStorage implements JobStorage {
  readonly #job: StoredJob;
  readonly #maxStateSize: number;

  constructor(job: StoredJob, maxStateSize: number) {
    this.#job = job;
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
    throw new WeirError(
      'CHECKPOINT_NONE',
      `There is no completed checkpoint ${pointer} of job ${this.#job.name} in memory.`,
    );
  }
  async create(id: CheckpointId): Promise<CheckpointLocation> {
    if (!this.#job.checkpoints.has(id)) return new MemoryLocation(this.#job, id, this.#maxStateSize);
    throw new WeirError(
      'STORAGE_FAILED',
      `There is a ${nameOf(this.#job, id)} already. Ids must be above all that are present.`,
    );
  }

  async readMetadata({ id }: StoredCheckpoint): Promise<Uint8Array> {
    const metadata = this.#job.checkpoints.get(id)?.metadata;
    if (metadata !== undefined) return Uint8Array.from(metadata);
    throw new WeirError(
      'CHECKPOINT_UNREADABLE',
      `${nameOf(this.#job, id)} has no metadata: it was never completed, or deleted.`,
    );
  }
  async read({ id }: StoredCheckpoint, blob: BlobHandle): Promise<Uint8Array> {
    if (blob.kind === 'inline') return Uint8Array.from(blob.bytes);
    const bytes = this.#job.checkpoints.get(id)?.blobs.get(blob.path);
    const fault =
      bytes === undefined
        ? 'is missing'
        : bytes.length !== blob.length
          ? `has ${bytes.length} bytes instead of ${blob.length}`
          : crc32(bytes) !== blob.checksum
            ? 'has another checksum'
            : undefined;
    if (fault === undefined) return Uint8Array.from(bytes!);
    throw new WeirError('CHECKPOINT_UNREADABLE', `${blob.path} of ${nameOf(this.#job, id)} ${fault}.`);
  }
  async delete({ id }: StoredCheckpoint): Promise<void> {
    this.#job.checkpoints.delete(id);
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
}
