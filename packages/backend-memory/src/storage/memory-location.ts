import { WeirError } from '@weir/core/contracts';
import type { BlobWriter, CheckpointId, CheckpointLocation } from '@weir/core/contracts';
import { MemoryBlob } from './memory-blob.js';
import type { BlobHome } from './memory-blob.js';
import type { CheckpointBytes, CheckpointPlace, StoredJob } from './stored-job.js';

/** A checkpoint or savepoint that is being written. */
export class MemoryLocation implements CheckpointLocation, BlobHome {
  readonly id: CheckpointId;
  readonly pointer: string;
  readonly name: string;
  readonly maxStateSize: number;
  readonly createSharedBlob?: (key: string) => BlobWriter;
  readonly sharedFiles: Set<string> = new Set();
  readonly #place: CheckpointPlace;
  readonly #bytes: CheckpointBytes = { blobs: new Map(), metadata: undefined };
  readonly #job: StoredJob | undefined;
  #blobs = 0;

  /** Without `job` it is that of a savepoint, which has nothing in common with others. */
  constructor(place: CheckpointPlace, maxStateSize: number, job?: StoredJob) {
    this.id = place.id;
    this.pointer = place.pointer;
    this.name = place.name;
    this.maxStateSize = maxStateSize;
    this.#place = place;
    this.#job = job;
    if (job !== undefined) this.createSharedBlob = (key) => this.#createShared(job, key);
    place.put(this.#bytes);
  }

  get complete(): boolean {
    return this.#bytes.metadata !== undefined;
  }
  createBlob(): BlobWriter {
    this.assertOpen();
    return new MemoryBlob(this);
  }
  async publish(metadata: Uint8Array): Promise<void> {
    this.assertOpen();
    this.#bytes.metadata = Uint8Array.from(metadata);
  }
  async discard(): Promise<void> {
    if (this.complete) throw new WeirError('STORAGE_FAILED', `${this.name} is complete and cannot be discarded.`);
    if (this.#isPresent()) this.#place.remove();
    for (const path of this.sharedFiles) this.#job?.shared.delete(path);
  }

  assertOpen(): void {
    if (this.complete) throw new WeirError('STORAGE_FAILED', `${this.name} is complete already.`);
    if (!this.#isPresent()) throw new WeirError('STORAGE_FAILED', `${this.name} was discarded.`);
  }
  keep(bytes: Uint8Array): string {
    const path = `blob-${++this.#blobs}`;
    this.#bytes.blobs.set(path, bytes);
    return path;
  }

  #createShared(job: StoredJob, key: string): BlobWriter {
    this.assertOpen();
    const path = `shared-${++job.sharedCount}`;
    this.sharedFiles.add(path);
    return new MemoryBlob(this, { key, path, files: job.shared });
  }

  /** The id may have been given to another location since. */
  #isPresent(): boolean {
    return this.#place.get() === this.#bytes;
  }
}
