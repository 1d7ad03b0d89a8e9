import { WeirError, type SourceReader } from '@weir/core/contracts';
import type { LineDecoder } from '../format/decoder.js';
import { DecodedRegion } from './decoded-region.js';
import { describe, malformed, type InputFile } from './input-file.js';
import type { LineBuffer } from './line-buffer.js';
import type { MalformedLines } from './malformed-lines.js';
import type { BytePosition } from './position.js';
import type { Prefetch } from './prefetch.js';

/** Lines are decoded in regions of this size, some hundred records each: long enough to be fast, short enough not to block. */
const REGION_BYTES = 64 * 1024;

export interface LineReaderOptions<T> {
  readonly file: InputFile;
  readonly decoder: LineDecoder<T>;
  readonly input: Prefetch;
  /** Begins at `start`. */
  readonly buffer: LineBuffer;
  readonly start: BytePosition;
  readonly maxLineBytes: number;
  /** Where malformed lines go; absent: they fail the job. */
  readonly skipped: MalformedLines | undefined;
}

/** Decodes a region of lines at a time and hands its records out; asynchronous only where it has to wait for the disk. */
export class LineReader<T> implements SourceReader<T, BytePosition> {
  readonly #options: LineReaderOptions<T>;
  #region: DecodedRegion<T>;
  /** How many bytes the next region has at least, when a record did not end in the last one. */
  #atLeast = 0;
  #closing: Promise<void> | undefined;

  constructor(options: LineReaderOptions<T>) {
    this.#options = options;
    this.#region = new DecodedRegion<T>(new Uint8Array(0), NOTHING, options.start);
  }

  poll(max: number): readonly T[] | Promise<readonly T[] | 'end'> | 'end' {
    const { buffer, input } = this.#options;
    while (this.#region.isDone) {
      const bytes = this.#nextLines();
      if (bytes !== undefined) {
        const written = this.#decode(bytes);
        if (written !== undefined) return this.#pollAfter(written, max);
      } else if (buffer.ended) {
        return 'end';
      } else {
        const chunk = input.take();
        if (chunk === undefined) return this.#pollAfter(input.ready(), max);
        buffer.feed(chunk);
      }
    }
    return this.#region.take(max);
  }

  position(): BytePosition {
    return this.#region.position();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#options.input.close();
    await this.#options.skipped?.close();
  }

  async #pollAfter(waited: Promise<void>, max: number): Promise<readonly T[] | 'end'> {
    await waited;
    return this.#closing === undefined ? this.poll(max) : [];
  }

  #nextLines(): Buffer | undefined {
    const { buffer, file, maxLineBytes } = this.#options;
    if (!buffer.ended && buffer.length < this.#atLeast) return undefined;
    const bytes = buffer.region(Math.max(REGION_BYTES, this.#atLeast));
    if (bytes === undefined && !buffer.ended && buffer.length > maxLineBytes) {
      const { line } = this.position();
      throw malformed(file, line, `is longer than the ${String(maxLineBytes)} bytes of maxLineBytes`);
    }
    return bytes;
  }

  /** A promise if malformed lines are written to the side first. */
  #decode(bytes: Buffer): Promise<void> | undefined {
    const { buffer, decoder, file } = this.#options;
    const start = this.position();
    const last = buffer.ended && bytes.length === buffer.length;
    const decoded = decoder.decode(bytes, last);
    if (last && decoded.consumed < bytes.length) {
      throw new WeirError('PROTOCOL_VIOLATION', `${describe(file)}: the format left the last lines undecoded.`);
    }
    // A record that goes on: with twice as many bytes each time a long one is not decoded over and over.
    this.#atLeast = decoded.consumed === 0 ? buffer.length * 2 : 0;
    this.#region = new DecodedRegion(bytes, decoded, start);
    buffer.advance(decoded.consumed);
    if (decoded.malformed.length === 0) return undefined;

    const { skipped } = this.#options;
    const lines = decoded.malformed.map((line) => ({
      line: this.#region.lineAt(line.start),
      reason: line.reason,
      text: bytes.toString('utf8', line.start, line.end),
    }));
    const [first] = lines;
    if (skipped === undefined && first !== undefined) throw malformed(file, first.line, first.reason);
    // Written before the records behind them are handed over, so before a checkpoint can say that they are done with.
    return skipped?.write(lines);
  }
}

const NOTHING = { records: [], ends: [], malformed: [], consumed: 0 };
