import { CsvError, parse, type Options } from 'csv-parse/sync';
import { eachLine } from './each-line.js';

export interface CsvDialect {
  readonly delimiter: string;
  readonly quote: string;
  /** A record that is longer and whose quote is not closed by then is malformed. */
  readonly maxRecordBytes: number;
}
export interface CsvVisitor {
  record(fields: string[], start: number, end: number): void;
  malformed(start: number, end: number, reason: string): void;
}

/** Visits all records of whole lines in order, empty lines left out. Returns how many bytes are done with: a quoted field may go on in lines to come. */
export function csvRecords(bytes: Buffer, last: boolean, dialect: CsvDialect, visitor: CsvVisitor): number {
  if (bytes.includes(dialect.quote)) return quotedRecords(bytes, last, dialect, visitor);
  // Without a quote each line is a record, and taking it apart is several times faster than the parser.
  eachLine(bytes, (start, stop, end) => {
    if (stop > start) visitor.record(bytes.toString('utf8', start, stop).split(dialect.delimiter), start, end);
  });
  return bytes.length;
}

function quotedRecords(bytes: Buffer, last: boolean, dialect: CsvDialect, visitor: CsvVisitor): number {
  let at = 0;
  while (at < bytes.length) {
    const from = at;
    try {
      parse(bytes.subarray(from), {
        ...parserOptions(dialect),
        on_record(fields: string[], { bytes: length }) {
          const start = at;
          at = from + length;
          visitor.record(fields, start, at);
        },
      });
      at = bytes.length;
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      const unclosed = error.code === 'CSV_QUOTE_NOT_CLOSED';
      if (unclosed && !last && bytes.length - at <= dialect.maxRecordBytes) return at;
      // Only its first line is given up: what follows may well be whole.
      const start = afterEmptyLines(bytes, at);
      const lineEnd = bytes.indexOf('\n', start);
      at = lineEnd < 0 ? bytes.length : lineEnd + 1;
      visitor.malformed(start, at, reasonOf(error));
    }
  }
  return at;
}

function parserOptions({ delimiter, quote }: CsvDialect): Options {
  return {
    delimiter,
    quote,
    escape: quote,
    // Named, not discovered: a resumed reader starts at another line and must not come to another conclusion.
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
  };
}

const LF = 10;
const CR = 13;

function afterEmptyLines(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF)) at++;
  return at;
}

/** In our words: the parser's name lines counted from where it was started. */
function reasonOf({ code, message }: CsvError): string {
  switch (code as string) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'opens a quote that is never closed';
    case 'INVALID_OPENING_QUOTE':
      return 'has a quote inside of a field that does not begin with one';
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'has text between a closing quote and the end of its field';
    default:
      return `is not CSV: ${message}`;
  }
}
