import type { FileHandle, FileSystem } from '@weir/core/contracts';

/** So many bytes are written at a time. */
const CHUNK_BYTES = 256 * 1024;
/** With so many bytes waiting for the disk the writer has to wait too. */
const LIMIT_BYTES = 1024 * 1024;

/** A file that is being written. Bytes go to the disk in the background, and what fails there fails the next call. */
export class OutputFile {
  readonly #fileSystem: FileSystem;
  readonly #path: string;
  readonly #handle: Promise<FileHandle>;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Bytes that were handed over. */
  length = 0;

  constructor(fileSystem: FileSystem, path: string) {
    this.#fileSystem = fileSystem;
    this.#path = path;
    this.#handle = fileSystem.open(path, 'create');
    // Whoever uses the handle learns of it.
    this.#handle.catch(() => undefined);
  }

  /** A promise if too much is waiting already. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    this.#throwFailure();
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.length += bytes.length;
    if (this.#waitingBytes < CHUNK_BYTES) return undefined;
    this.#writing ??= this.#writeInBackground();
    return this.#waitingBytes < LIMIT_BYTES ? undefined : this.#settled();
  }

  /** All bytes are durable, and the file is closed. */
  async finish(): Promise<void> {
    await this.#settled();
    const handle = await this.#handle;
    await this.#writeWaiting(handle);
    await handle.sync();
    await handle.close();
  }

  /** Closes the file and takes it away, whatever state it is in; what cannot be taken away is left to the next attempt. */
  async abandon(): Promise<void> {
    await this.#writing;
    this.#waiting = [];
    await this.#handle.then((handle) => handle.close()).catch(() => undefined);
    await this.#fileSystem.remove(this.#path).catch(() => undefined);
  }

  async #settled(): Promise<void> {
    await this.#writing;
    this.#throwFailure();
  }

  async #writeInBackground(): Promise<void> {
    try {
      const handle = await this.#handle;
      while (this.#waitingBytes >= CHUNK_BYTES) await this.#writeWaiting(handle);
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#writing = undefined;
    }
  }

  async #writeWaiting(handle: FileHandle): Promise<void> {
    if (this.#waitingBytes === 0) return;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    await handle.write(bytes);
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
