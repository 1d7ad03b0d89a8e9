import { ByteWriter } from './bytes.js';

export interface ByteWriterPoolOptions {
  /** Room that a new buffer has. */
  readonly initialBytes?: number | undefined;
  /** Room that is kept for later, over all buffers. */
  readonly pooledBytes: number;
}

/**
 * Buffers that have grown to the size they are needed in, for one checkpoint after the other: memory outside of the heap that is allocated anew for
 * every checkpoint makes V8 collect the whole heap every few of them, which stops the thread for tens of milliseconds when state is large.
 */
export class ByteWriterPool {
  readonly #options: ByteWriterPoolOptions;
  readonly #free: ByteWriter[] = [];
  #bytes = 0;

  constructor(options: ByteWriterPoolOptions) {
    this.#options = options;
  }

  take(): ByteWriter {
    const writer = this.#free.pop();
    if (writer === undefined) return new ByteWriter(this.#options.initialBytes);
    this.#bytes -= writer.capacity;
    return writer;
  }

  /** `writer` holds nothing that anybody needs. One that had to grow beyond `keepBelow` bytes, for a huge row, is let go. */
  give(writer: ByteWriter, keepBelow: number = Number.POSITIVE_INFINITY): void {
    const { capacity } = writer;
    if (capacity > keepBelow || this.#bytes + capacity > this.#options.pooledBytes) return;
    writer.reset();
    this.#bytes += capacity;
    this.#free.push(writer);
  }
}
