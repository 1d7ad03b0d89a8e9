import { ByteWriter } from '@weir/core/contracts';

/** Room that is kept from one checkpoint to the next. */
const POOLED_BYTES = 8 * 1024 * 1024;

/**
 * Buffers that have grown to the size they are needed in. Memory outside of the heap that is allocated anew for every checkpoint makes V8 collect
 * the whole heap every few of them.
 */
export class BufferPool {
  readonly #free: ByteWriter[] = [];
  #bytes = 0;

  take(): ByteWriter {
    const writer = this.#free.pop();
    if (writer === undefined) return new ByteWriter();
    this.#bytes -= writer.capacity;
    return writer;
  }

  /** Nobody needs what `writer` holds. */
  give(writer: ByteWriter): void {
    if (this.#bytes + writer.capacity > POOLED_BYTES) return;
    writer.reset();
    this.#bytes += writer.capacity;
    this.#free.push(writer);
  }
}
