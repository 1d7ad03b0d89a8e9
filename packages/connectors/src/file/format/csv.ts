import { WeirError } from '@weir/core/contracts';
import type { LineFormat } from './decoder.js';
import type { Encoder } from './encoder.js';
import { unusableName } from './property-names.js';

export interface CsvOptions<C extends string> {
  /** Without `header` all columns in their order; with it those that are wanted, by name. Absent: the columns of the header. */
  readonly columns?: readonly C[] | undefined;
  /** The first record of each file names the columns. Default false. */
  readonly header?: boolean | undefined;
  /** Default ','. */
  readonly delimiter?: string | undefined;
  /** One character around fields that hold a delimiter, a line break or itself (then doubled). Default '"'. */
  readonly quote?: string | undefined;
}
/** What is read: all fields are text. */
export type CsvRecord<C extends string> = { readonly [N in C]: string };
/** What is written: objects with a property for each column. */
export type CsvInput<C extends string> = string extends C ? object : { readonly [N in C]: unknown };

/**
 * Comma-separated values (RFC 4180) in UTF-8. Line breaks inside of quotes belong to the field; empty lines are passed over; a record with
 * another number of fields than there are columns is malformed. Written dates are ISO texts, objects JSON, undefined and null empty. Without
 * `columns` a file has the columns of its first record, and a record with a further property fails with SINK_FAILED.
 */
export function csv<const C extends string = string>(
  options: CsvOptions<C> = {},
): LineFormat<CsvRecord<C>> & Encoder<CsvInput<C>> {
  const { columns, header = false, delimiter = ',', quote = '"' } = options;
  checkOptions({ columns, delimiter, quote });
  return {
    kind: 'lines',
    extension: 'csv',
    // The parser and the writer are loaded only where they are used: a job that reads CSV often writes something else.
    async decoder({ maxLineBytes }) {
      const { csvDecoder } = await import('./csv-decoder.js');
      return csvDecoder({ columns, header, delimiter, quote, maxRecordBytes: maxLineBytes });
    },
    async encoder() {
      const { csvEncoder } = await import('./csv-encoder.js');
      return csvEncoder({ columns, header, delimiter, quote });
    },
  };
}

function checkOptions({
  columns,
  delimiter,
  quote,
}: {
  columns: readonly string[] | undefined;
  delimiter: string;
  quote: string;
}): void {
  const problem =
    columns?.length === 0
      ? 'columns is empty'
      : columns !== undefined && new Set(columns).size < columns.length
        ? 'columns names one twice'
        : columns?.some(unusableName) === true
          ? `columns has a name that records cannot have (${columns.filter(unusableName).join(', ')})`
          : delimiter === '' || /[\r\n]/.test(delimiter) || delimiter.includes(quote)
            ? `delimiter is ${JSON.stringify(delimiter)}`
            : Buffer.byteLength(quote) !== 1
              ? `quote is ${JSON.stringify(quote)}, but has to be one ASCII character`
              : undefined;
  if (problem !== undefined) throw new WeirError('CONFIG_INVALID', `csv(): ${problem}.`, { recoverable: false });
}
