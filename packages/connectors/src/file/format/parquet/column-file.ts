import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import type { parquetHeader } from 'hyparquet/src/column.js';
import type { RowFile } from '../decoder.js';
import { compareChecksums, type Chunk } from './page-checksums.js';

/**
 * A file for the Parquet reader, which neither looks at checksums nor hears of every read that fails: columns are read and compared before it
 * asks for them.
 */
export class ColumnFile implements AsyncBuffer {
  readonly byteLength: number;
  readonly #handle: RowFile['handle'];
  #held = { start: 0, bytes: new Uint8Array(0) };

  constructor({ size, handle }: RowFile) {
    this.byteLength = size;
    this.#handle = handle;
  }

  /** Reads a column of a row group and compares its checksums. It is held until the next one is read. */
  async hold(
    { row_groups }: FileMetaData,
    group: number,
    column: string,
    readHeader: typeof parquetHeader,
  ): Promise<void> {
    const chunks = (row_groups[group]?.columns ?? []).flatMap(({ meta_data: meta }): readonly Chunk[] => {
      if (meta?.path_in_schema[0] !== column) return [];
      const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
      return [{ column, start, end: start + Number(meta.total_compressed_size), meta }];
    });
    if (chunks.length === 0) throw new Error(`row group ${String(group)} does not have the column ${column}`);
    // The leaves of a nested column lie side by side, and the reader may ask for all at once.
    const start = Math.min(...chunks.map((chunk) => chunk.start));
    const bytes = await this.#read(start, Math.max(...chunks.map((chunk) => chunk.end)));
    for (const chunk of chunks)
      compareChecksums(bytes.subarray(chunk.start - start, chunk.end - start), chunk, readHeader);
    this.#held = { start, bytes };
  }

  slice(start: number, end: number = this.byteLength): ArrayBuffer | Promise<ArrayBuffer> {
    const { start: from, bytes } = this.#held;
    if (start >= from && end <= from + bytes.length) return bytes.buffer.slice(start - from, end - from);
    return this.#read(start, end).then(({ buffer }) => buffer);
  }

  async #read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    if (!(start >= 0 && end >= start && end <= this.byteLength)) {
      throw new RangeError(
        `bytes ${String(start)} to ${String(end)} are asked for, and the file has ${String(this.byteLength)}`,
      );
    }
    const bytes = new Uint8Array(end - start);
    for (let at = 0; at < bytes.length;) {
      const part = await this.#handle.read(start + at, bytes.length - at);
      if (part.length === 0) throw new RangeError(`the file ends before byte ${String(end)}`);
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}
