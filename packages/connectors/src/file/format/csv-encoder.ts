import { messageOf, WeirError } from '@weir/core/contracts';
import { stringify, type Options } from 'csv-stringify/sync';
import type { StartFile } from './encoder.js';

interface CsvEncoderOptions {
  readonly columns: readonly string[] | undefined;
  readonly header: boolean;
  readonly delimiter: string;
  readonly quote: string;
}

/** Each file has its header; without `columns` the properties of its first record are the columns of all. */
export function csvEncoder({ columns, header, delimiter, quote }: CsvEncoderOptions): StartFile<object> {
  return () => {
    let names: readonly string[] | undefined;
    return (records) => {
      const rows: unknown[][] = [];
      if (names === undefined) {
        names = columns ?? Object.keys(records[0] ?? {});
        if (header) rows.push([...names]);
      }
      for (const record of records as readonly Record<string, unknown>[]) rows.push(names.map((name) => record[name]));
      // An empty line is passed over by readers, so a lone empty field is written in quotes.
      return encode(rows, { delimiter, quote, escape: quote, quoted_empty: names.length === 1, cast: CAST });
    };
  };
}

const CAST: NonNullable<Options['cast']> = {
  boolean: String,
  date: (value) => value.toISOString(),
};

function encode(rows: unknown[][], options: Options): Uint8Array {
  try {
    return Buffer.from(stringify(rows, options), 'utf8');
  } catch (error) {
    throw new WeirError('SINK_FAILED', `A record cannot be written as CSV: ${messageOf(error)}`, {
      cause: error,
      recoverable: false,
    });
  }
}
