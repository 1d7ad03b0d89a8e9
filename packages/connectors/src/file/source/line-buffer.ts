const LF = 10;

/** Bytes of a file that were read and not decoded yet, handed out in regions of whole lines. */
export class LineBuffer {
  #bytes: Buffer = Buffer.alloc(0);
  #ended = false;
  /** Where in the file the buffer begins. */
  offset: number;

  constructor(offset: number) {
    this.offset = offset;
  }

  get length(): number {
    return this.#bytes.length;
  }
  /** No more bytes will come. */
  get ended(): boolean {
    return this.#ended;
  }

  /** An empty chunk is the end. */
  feed(chunk: Uint8Array): void {
    if (chunk.length === 0) {
      this.#ended = true;
      return;
    }
    const more = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#bytes = this.#bytes.length === 0 ? more : Buffer.concat([this.#bytes, more]);
  }

  /** The first bytes, as many as there are up to `count`. */
  peek(count: number): Buffer {
    return this.#bytes.subarray(0, count);
  }

  /**
   * The next whole lines: as many as fit into `size` bytes, or one line that is longer. At the end whatever is left.
   * Undefined: more bytes are needed, or all are done with.
   */
  region(size: number): Buffer | undefined {
    const { length } = this.#bytes;
    if (length === 0) return undefined;
    if (this.#ended && length <= size) return this.#bytes;
    if (!this.#ended && length < size) return this.#upTo(this.#bytes.lastIndexOf(LF));
    const within = this.#bytes.lastIndexOf(LF, size - 1);
    const at = within >= 0 ? within : this.#bytes.indexOf(LF, size);
    return at < 0 && this.#ended ? this.#bytes : this.#upTo(at);
  }

  /** The first `count` bytes are done with. */
  advance(count: number): void {
    this.#bytes = this.#bytes.subarray(count);
    this.offset += count;
  }

  #upTo(lineEnd: number): Buffer | undefined {
    return lineEnd < 0 ? undefined : this.#bytes.subarray(0, lineEnd + 1);
  }
}
