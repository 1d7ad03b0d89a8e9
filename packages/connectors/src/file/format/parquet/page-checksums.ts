import { crc32 } from 'node:zlib';
import type { ColumnMetaData } from 'hyparquet';
import type { parquetHeader } from 'hyparquet/src/column.js';

/** Where in the file the pages of a column of a row group lie. */
export interface Chunk {
  readonly column: string;
  readonly start: number;
  readonly end: number;
  readonly meta: ColumnMetaData;
}

/**
 * Compares each page that has a checksum with it (parquet.thrift, PageHeader.crc: the CRC-32 of the page as it is stored). Checksums do not cover
 * the headers of pages, so these are compared with what the file says of the column. Throws what differs.
 */
export function compareChecksums(
  bytes: Uint8Array,
  { column, start, meta }: Chunk,
  readHeader: typeof parquetHeader,
): void {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const differs = (what: string): Error =>
    new Error(`${what} of column ${column} at byte ${String(start)} differs from what the file says of it`);
  let values = 0;
  let uncompressed = 0;
  const withChecksum = new Set<boolean>();
  while (reader.offset < bytes.length) {
    const from = reader.offset;
    const header = readHeader(reader);
    const { crc, compressed_page_size: size } = header;
    const page = bytes.subarray(reader.offset, reader.offset + size);
    if (!(size >= 0) || page.length < size) throw differs('the length of a page');
    if (crc !== undefined && crc32(page) !== crc >>> 0) {
      throw new Error(`the checksum of the page of column ${column} at byte ${String(start + from)} differs`);
    }
    withChecksum.add(crc !== undefined);
    uncompressed += reader.offset - from + header.uncompressed_page_size;
    const { num_values, encoding } = header.data_page_header ?? header.data_page_header_v2 ?? NO_DATA;
    values += num_values;
    if (encoding !== undefined && !meta.encodings.includes(encoding)) throw differs('the encoding of a page');
    reader.offset += size;
  }
  if (withChecksum.size > 1) throw differs('the checksum of a page');
  if (values !== Number(meta.num_values)) throw differs('the number of values');
  if (uncompressed !== Number(meta.total_uncompressed_size)) throw differs('the uncompressed size');
}

/** A page of a dictionary or an index. */
const NO_DATA = { num_values: 0, encoding: undefined };
