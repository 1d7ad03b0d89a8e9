import { ByteWriter } from '@weir/core/contracts';

const INITIAL_BYTES = 1024;
/** Room that the buffers of one store keep between its captures. */
const POOLED_BYTES = 4 * 1024 * 1024;

/**
 * Buffers that have grown to the size they are needed in. They also serve the next capture: memory outside of the heap that is allocated anew for
 * every checkpoint makes V8 collect the whole heap every few of them, which stops the thread for tens of milliseconds when state is large.
 */
export class WriterPool {
  readonly #free: ByteWriter[] = [];
  #bytes = 0;

  take(): ByteWriter {
    const writer = this.#free.pop();
    if (writer === undefined) return new ByteWriter(INITIAL_BYTES);
    this.#bytes -= writer.capacity;
    return writer;
  }
  /** `writer` holds nothing that anybody needs. One that had to grow for a huge row, beyond `keepBelow` bytes, is let go. */
  give(writer: ByteWriter, keepBelow: number): void {
    const { capacity } = writer;
    if (capacity > keepBelow || this.#bytes + capacity > POOLED_BYTES) return;
    writer.reset();
    this.#bytes += capacity;
    this.#free.push(writer);
  }
}
