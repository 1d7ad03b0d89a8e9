import { ByteWriter } from '@weir/core/contracts';

const INITIAL_BYTES = 256;
const MAX_POOLED = 8;

/** Buffers that have grown to the size of a section, kept so that writing millions of rows takes a handful of them. */
export class WriterPool {
  #free: ByteWriter[] = [];

  take(): ByteWriter {
    return this.#free.pop() ?? new ByteWriter(INITIAL_BYTES);
  }
  /** `writer` holds nothing that anybody needs. One that had to grow for a huge row, beyond `keepBelow` bytes, is let go. */
  give(writer: ByteWriter, keepBelow: number): void {
    if (this.#free.length >= MAX_POOLED || writer.length > keepBelow) return;
    writer.reset();
    this.#free.push(writer);
  }
  clear(): void {
    this.#free = [];
  }
}
