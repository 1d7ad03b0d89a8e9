import { messageOf, WeirError } from '@weir/core/contracts';
import { stringify, type Options } from 'csv-stringify/sync';
import type { StartFile } from './encoder.js';

interface CsvEncoderOptions {
  readonly columns: readonly string[] | undefined;
  readonly header: boolean;
  readonly delimiter: string;
  readonly quote: string;
}

/**
 * Each file has its header. Without `columns` the properties of its first record are the columns of the file, and a later record with another
 * property is refused, because it would lose that.
 */
export function csvEncoder({ columns, header, delimiter, quote }: CsvEncoderOptions): StartFile<object> {
  return () => {
    let names = columns;
    let atStart = true;
    return (records) => {
      const rows: unknown[][] = [];
      if (atStart) {
        names ??= Object.keys(records[0] ?? {});
        if (header) rows.push([...names]);
        atStart = false;
      }
      const written = names ?? [];
      const known = columns === undefined ? new Set(written) : undefined;
      for (const record of records as readonly Record<string, unknown>[]) {
        if (known !== undefined) checkProperties(record, known);
        rows.push(written.map((name) => record[name]));
      }
      return encode(rows, {
        delimiter,
        quote,
        escape: quote,
        // An empty line is passed over by readers, so a lone empty field is written in quotes.
        quoted_empty: written.length === 1,
        quoted_match: LOST_WITHOUT_QUOTES,
        cast: CAST,
      });
    };
  };
}

/** At its end a reader takes a carriage return for a part of the line end, and at its beginning a byte order mark for one of the file. */
const LOST_WITHOUT_QUOTES = /\r|^\uFEFF/;

const CAST: NonNullable<Options['cast']> = {
  boolean: String,
  date: (value) => value.toISOString(),
};

function checkProperties(record: object, known: ReadonlySet<string>): void {
  for (const name of Object.keys(record)) {
    if (known.has(name)) continue;
    throw noCsv(
      `it has the property ${name}, but the columns of this file are those of its first record: ${[...known].join(', ')}. ` +
        'Name all columns with csv({ columns })',
    );
  }
}

function encode(rows: unknown[][], options: Options): Uint8Array {
  let text: string;
  try {
    text = stringify(rows, options);
  } catch (error) {
    throw noCsv(messageOf(error), error);
  }
  if (!text.isWellFormed()) throw noCsv('a field holds half of a surrogate pair, for which UTF-8 has no bytes');
  return Buffer.from(text, 'utf8');
}

function noCsv(problem: string, cause?: unknown): WeirError {
  return new WeirError('SINK_FAILED', `A record cannot be written as CSV: ${problem}.`, { cause, recoverable: false });
}
