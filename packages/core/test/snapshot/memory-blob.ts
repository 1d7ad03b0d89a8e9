import { crc32 } from 'node:zlib';
import type { BlobWriter } from '../../src/contracts/checkpoint-storage.js';
import type { BlobHandle } from '../../src/contracts/snapshot.js';

/** A blob in memory. With `isSlow`, each write is taken only when `take` is called. */
export class MemoryBlob implements BlobWriter {
  readonly #isSlow: boolean;
  #bytes = Buffer.alloc(0);
  #waiting: (() => void) | undefined;
  isFinished = false;
  isAborted = false;

  constructor({ isSlow = false }: { readonly isSlow?: boolean } = {}) {
    this.#isSlow = isSlow;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  write(chunk: Uint8Array): void | Promise<void> {
    if (this.#waiting !== undefined) throw new Error('written to before the chunk before it was taken');
    if (!this.#isSlow) {
      this.#append(chunk);
      return;
    }
    return new Promise((resolve) => {
      this.#waiting = () => {
        // Only now, as a real one may: the chunk is the writer's until the promise settles.
        this.#append(chunk);
        resolve();
      };
    });
  }

  /** Takes the chunk that waits; false if there is none. */
  take(): boolean {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
    return waiting !== undefined;
  }

  async finish(): Promise<BlobHandle> {
    this.isFinished = true;
    return { kind: 'blob', path: 'blob', length: this.#bytes.length, algorithm: 'crc32', checksum: crc32(this.#bytes) };
  }

  async abort(): Promise<void> {
    this.isAborted = true;
  }

  #append(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
  }
}
