import { crc32 } from 'node:zlib';
import { join } from 'node:path';
import {
  WeirError,
  type BlobHandle,
  type BlobWriter,
  type ByteWriterPool,
  type ByteWriter,
  type FileHandle,
  type FileSystem,
} from '@weir/core/contracts';
import { storageFailed } from './failure.js';

export interface BlobLimits {
  /** A blob of at most so many bytes becomes part of `_metadata`. */
  readonly inlineThreshold: number;
  /** Bytes that are collected before they are written. */
  readonly bufferSize: number;
}
export interface BlobPlace extends BlobLimits {
  readonly buffers: ByteWriterPool;
  readonly fileSystem: FileSystem;
  readonly folder: string;
  /** Name of the file, should one be needed. */
  readonly name: string;
  /** Later checkpoints may refer to the file by this; undefined: it is this checkpoint's own. */
  readonly sharedKey?: string | undefined;
  /** Makes the folder, should it be needed and missing. */
  readonly makeFolder?: (() => Promise<void>) | undefined;
  /** The checkpoint, for messages. */
  readonly owner: string;
  /** The checkpoint is complete, or about to be: its files must stay. */
  readonly isRetained: () => boolean;
  /** Called once, when the blob is finished or aborted. */
  readonly onClosed: (blob: FsBlobWriter) => void;
}

/** Bytes that wait for the disk before the writer does. With one piece more a buffer of 1 MiB is not full. */
const MOST_WAITING = 15 * 2 ** 16;

/**
 * Collects bytes in memory and opens a file only when they do not fit (Flink: FsCheckpointStateOutputStream). The file has a name of its own
 * and is found only through the handle, so it is written in place. In memory at any time: what is being written, and up to 960 KiB that wait:
 * a writer that had to wait for the disk after every few kilobytes would take as many turns of the event loop as there are such pieces.
 */
export class FsBlobWriter implements BlobWriter {
  readonly #place: BlobPlace;
  readonly #path: string;
  #state: 'open' | 'finishing' | 'finished' | 'aborted' = 'open';
  #buffer: ByteWriter;
  /** What was written last: the two take turns. */
  #spare: ByteWriter | undefined;
  #length = 0;
  #checksum = 0;
  /** The file's operations, one after the other; rejected for good after the first failure. */
  #queue: Promise<FileHandle> | undefined;
  /** The write to the file that is under way. What comes meanwhile goes in one piece with the next. */
  #writing: Promise<void> | undefined;
  /** The write that failed. */
  #failed: Promise<void> | undefined;
  /** While it is open. */
  #file: FileHandle | undefined;
  #isCreated = false;
  #removed: Promise<void> | undefined;

  constructor(place: BlobPlace) {
    this.#place = place;
    this.#path = join(place.folder, place.name);
    this.#buffer = place.buffers.take();
  }

  write(chunk: Uint8Array): void | Promise<void> {
    this.#assertOpen();
    if (this.#failed !== undefined) return this.#failed;
    this.#length += chunk.length;
    this.#checksum = crc32(chunk, this.#checksum);
    this.#buffer.bytes(chunk);
    if (this.#buffer.length <= this.#place.bufferSize) return;
    if (this.#writing === undefined) this.#flush();
    else if (this.#buffer.length >= MOST_WAITING) return this.#writing;
  }

  async finish(): Promise<BlobHandle> {
    this.#assertOpen();
    const { name, sharedKey } = this.#place;
    // A file that is shared is one however small: what is in `_metadata` cannot be referred to from another.
    if (sharedKey === undefined && this.#length <= this.#place.inlineThreshold) {
      this.#state = 'finished';
      this.#place.onClosed(this);
      const bytes = this.#buffer.toBytes();
      this.#giveBack();
      return { kind: 'inline', bytes };
    }
    this.#state = 'finishing';
    await this.#enqueue(async (file) => {
      if (this.#buffer.length > 0) await file.write(this.#buffer.view());
      await file.sync();
      this.#file = undefined;
      await file.close();
    });
    if (this.#isAborted()) throw this.#closed();
    this.#giveBack();
    this.#state = 'finished';
    this.#place.onClosed(this);
    const file = { path: name, length: this.#length, algorithm: 'crc32', checksum: this.#checksum } as const;
    return sharedKey === undefined ? { kind: 'blob', ...file } : { kind: 'shared', key: sharedKey, ...file };
  }

  abort(): Promise<void> {
    if (this.#place.isRetained()) return Promise.resolve();
    this.#state = 'aborted';
    this.#removed ??= this.#remove();
    return this.#removed;
  }

  async #remove(): Promise<void> {
    await this.#queue?.catch(() => undefined);
    await this.#file?.close().catch(() => undefined);
    this.#place.onClosed(this);
    if (!this.#isCreated) return;
    try {
      await this.#place.fileSystem.remove(this.#path);
    } catch (cause) {
      throw storageFailed(`Removing state of ${this.#place.owner}`, cause);
    }
  }

  #flush(): void {
    const full = this.#buffer;
    this.#buffer = this.#spare ?? this.#place.buffers.take();
    this.#spare = undefined;
    const writing = this.#enqueue((file) => file.write(full.view()));
    this.#writing = writing;
    const next = (): void => {
      this.#writing = undefined;
      full.reset();
      this.#spare = full;
      if (this.#state === 'open' && this.#buffer.length > this.#place.bufferSize) this.#flush();
    };
    writing.then(next, () => {
      this.#failed = writing;
    });
  }

  #enqueue(operation: (file: FileHandle) => Promise<void>): Promise<void> {
    const queue = (this.#queue ?? this.#create()).then(async (file) => {
      try {
        await operation(file);
        return file;
      } catch (cause) {
        throw storageFailed(`Writing state of ${this.#place.owner}`, cause);
      }
    });
    this.#queue = queue;
    const done = queue.then(() => undefined);
    // Also for a caller that does not look: `finish` fails with the same.
    done.catch(() => undefined);
    return done;
  }

  async #create(): Promise<FileHandle> {
    try {
      await this.#place.makeFolder?.();
      this.#file = await this.#place.fileSystem.open(this.#path, 'create');
      this.#isCreated = true;
      return this.#file;
    } catch (cause) {
      throw storageFailed(`Creating a file for state of ${this.#place.owner}`, cause);
    }
  }

  /** Not of a blob that has failed: a write may still be under way. */
  #giveBack(): void {
    this.#place.buffers.give(this.#buffer);
    if (this.#spare !== undefined) this.#place.buffers.give(this.#spare);
  }

  #isAborted(): boolean {
    return this.#state === 'aborted';
  }
  #assertOpen(): void {
    if (this.#state !== 'open') throw this.#closed();
  }
  #closed(): WeirError {
    const how = this.#state === 'aborted' ? 'aborted' : 'finished';
    return new WeirError(
      'STORAGE_FAILED',
      `A blob of ${this.#place.owner} is ${how}: nothing more can be written to it.`,
    );
  }
}
