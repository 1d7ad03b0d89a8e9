import { crc32 } from 'node:zlib';
import { WeirError } from '@weir/core/contracts';
import type { BlobHandle, BlobWriter } from '@weir/core/contracts';

/** State of at most so many bytes becomes part of the metadata, as in other storages. */
const INLINE_BYTES = 20 * 1024;

/** What a blob belongs to. */
export interface BlobHome {
  /** As in messages: "checkpoint 7 of job orders". */
  readonly name: string;
  readonly maxStateSize: number;
  /** Nothing of it is taken back any more. */
  readonly complete: boolean;
  /** Fails with STORAGE_FAILED once nothing may be written any more. */
  assertOpen(): void;
  /** Keeps the bytes and returns the path under which they are found. */
  keep(bytes: Uint8Array): string;
}

/** A blob that later checkpoints may refer to. */
export interface SharedPlace {
  readonly key: string;
  readonly path: string;
  /** Where the bytes of all of them are. */
  readonly files: Map<string, Uint8Array>;
}

/** One part of a checkpoint while it is written. Beyond the limit nothing is kept, only counted, so that the error can tell the size. */
export class MemoryBlob implements BlobWriter {
  readonly #home: BlobHome;
  readonly #shared: SharedPlace | undefined;
  #chunks: Uint8Array[] = [];
  #length = 0;
  #isEnded = false;

  constructor(home: BlobHome, shared?: SharedPlace) {
    this.#home = home;
    this.#shared = shared;
  }

  write(chunk: Uint8Array): void {
    this.#assertOpen();
    this.#length += chunk.length;
    if (this.#length > this.#home.maxStateSize) this.#chunks = [];
    else this.#chunks.push(Uint8Array.from(chunk));
  }

  async finish(): Promise<BlobHandle> {
    this.#assertOpen();
    const { name, maxStateSize } = this.#home;
    this.#isEnded = true;
    if (this.#length > maxStateSize) {
      throw new WeirError(
        'STATE_TOO_LARGE',
        `One part of ${name} has ${this.#length} bytes, and the memory storage takes at most ${maxStateSize}. ` +
          `Use fsBackend of @weir/backend-fs, or raise maxStateSize of memoryBackend.`,
      );
    }
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    const file = { length: bytes.length, algorithm: 'crc32', checksum: crc32(bytes) } as const;
    if (this.#shared !== undefined) {
      const { key, path, files } = this.#shared;
      files.set(path, bytes);
      return { kind: 'shared', key, path, ...file };
    }
    if (bytes.length <= INLINE_BYTES) return { kind: 'inline', bytes: Uint8Array.from(bytes) };
    return { kind: 'blob', path: this.#home.keep(bytes), ...file };
  }

  async abort(): Promise<void> {
    this.#isEnded = true;
    this.#chunks = [];
    if (this.#shared !== undefined && !this.#home.complete) this.#shared.files.delete(this.#shared.path);
  }

  #assertOpen(): void {
    this.#home.assertOpen();
    if (this.#isEnded) throw new WeirError('STORAGE_FAILED', `A blob of ${this.#home.name} was used after its end.`);
  }
}
