import type { ByteStream } from './byte-stream.js';
import { Outcome } from './outcome.js';

/** Reads one chunk ahead, so that decoding seldom waits for the disk. */
export class Prefetch {
  readonly #stream: ByteStream;
  #reading: Outcome<Uint8Array>;

  constructor(stream: ByteStream) {
    this.#stream = stream;
    this.#reading = new Outcome(stream.next());
  }

  /** The next chunk if it is there, and starts to read the one after it; empty at the end. Throws what reading failed with. */
  take(): Uint8Array | undefined {
    const chunk = this.#reading.get();
    if (chunk !== undefined && chunk.length > 0) this.#reading = new Outcome(this.#stream.next());
    return chunk;
  }

  /** The same as `take`, but waits. */
  async next(): Promise<Uint8Array> {
    for (;;) {
      const chunk = this.take();
      if (chunk !== undefined) return chunk;
      await this.#reading.settled;
    }
  }

  /** Settles when `take` has something to give or to throw; never rejects. */
  ready(): Promise<void> {
    return this.#reading.settled;
  }

  async close(): Promise<void> {
    await this.#reading.settled;
    await this.#stream.close();
  }
}
