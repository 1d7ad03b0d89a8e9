export type {
  DecodedLines,
  Decoder,
  LineDecoder,
  LineFormat,
  LineLimits,
  MalformedLine,
  RowFile,
  RowFormat,
  RowGroup,
  RowGroups,
} from './format/decoder.js';
export type { Encoder, StartFile } from './format/encoder.js';
export { csv } from './format/csv.js';
export type { CsvInput, CsvOptions, CsvRecord } from './format/csv.js';
export { jsonLines } from './format/json-lines.js';
export type { JsonLinesOptions } from './format/json-lines.js';
export { parquet } from './format/parquet/parquet.js';
export type { ParquetOptions } from './format/parquet/parquet.js';
export { textLines } from './format/text-lines.js';
export { fileSource } from './source/file-source.js';
export type { FileSourceOptions, FileSplit } from './source/file-source.js';
export type { BytePosition, FilePosition, RowPosition } from './source/position.js';
export { fileSink } from './sink/file-sink.js';
export type { FileSinkOptions } from './sink/file-sink.js';
export type { PreparedFile } from './sink/prepared-file.js';
export { readCommitted } from './read-committed.js';
