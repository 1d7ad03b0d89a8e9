import { isUtf8 } from 'node:buffer';
import { WeirError } from '@weir/core/contracts';
import { csvRecords, type CsvDialect } from './csv-records.js';
import { unusableName } from './property-names.js';
import type { DecodedLines, LineDecoder, MalformedLine } from './decoder.js';

interface CsvDecoderOptions<C extends string> extends CsvDialect {
  readonly columns: readonly C[] | undefined;
  readonly header: boolean;
}
type Row<C extends string> = { readonly [N in C]: string };

/** Which field of a record goes under which name. */
interface Layout {
  readonly names: readonly string[];
  readonly fields: readonly number[];
  /** How many fields a record has. */
  readonly width: number;
}

export function csvDecoder<C extends string>(options: CsvDecoderOptions<C>): LineDecoder<Row<C>> {
  const { columns, header } = options;
  if (!header) {
    if (columns !== undefined) return rowDecoder(options, () => inOrder(columns));
    throw new WeirError('CONFIG_INVALID', 'csv() cannot be read without columns: name them, or set header: true.', {
      recoverable: false,
    });
  }
  let layout: Layout = inOrder([]);
  return {
    header(bytes, last) {
      const first = firstRecord(bytes, last, options);
      if (first === undefined) return last ? bytes.length : 0;
      layout = byName(first.fields, columns ?? first.fields);
      return first.end;
    },
    ...rowDecoder(options, () => layout),
  };
}

function rowDecoder<C extends string>(dialect: CsvDialect, layoutOf: () => Layout): LineDecoder<Row<C>> {
  return {
    decode(bytes, last): DecodedLines<Row<C>> {
      const { names, fields, width } = layoutOf();
      const records: Row<C>[] = [];
      const ends: number[] = [];
      const malformed: MalformedLine[] = [];
      const valid = isUtf8(bytes);
      const consumed = csvRecords(bytes, last, dialect, {
        record(record, start, end) {
          if (record.length !== width) {
            malformed.push({ start, end, reason: `has ${String(record.length)} fields and not ${String(width)}` });
          } else if (!valid && !isUtf8(bytes.subarray(start, end))) {
            malformed.push({ start, end, reason: 'is not valid UTF-8' });
          } else {
            const row: Record<string, string> = {};
            for (let i = 0; i < names.length; i++) row[names[i]!] = record[fields[i]!]!;
            // Its keys are the columns, which are of type C.
            records.push(row as Row<C>);
            ends.push(end);
          }
        },
        malformed: (start, end, reason) => malformed.push({ start, end, reason }),
      });
      return { records, ends, malformed, consumed };
    },
  };
}

function inOrder(names: readonly string[]): Layout {
  return { names, fields: names.map((_, i) => i), width: names.length };
}

function byName(header: readonly string[], wanted: readonly string[]): Layout {
  const unusable = wanted.find(unusableName);
  if (unusable !== undefined) {
    throw new Error(`names a column ${unusable}, which records cannot have: list the columns that are wanted`);
  }
  const twice = wanted.find((name) => header.indexOf(name) !== header.lastIndexOf(name));
  if (twice !== undefined) throw new Error(`names a column twice: ${twice} in ${header.join(', ')}`);
  const missing = wanted.filter((name) => !header.includes(name));
  if (missing.length > 0) throw new Error(`does not name ${missing.join(', ')} but ${header.join(', ')}`);
  return { names: wanted, fields: wanted.map((name) => header.indexOf(name)), width: header.length };
}

function firstRecord(
  bytes: Buffer,
  last: boolean,
  dialect: CsvDialect,
): { fields: readonly string[]; end: number } | undefined {
  let first: { fields: readonly string[]; end: number } | undefined;
  csvRecords(bytes, last, dialect, {
    record(fields, start, end) {
      first ??= { fields: checkedHeader(fields, bytes.subarray(start, end)), end };
    },
    malformed(_start, _end, reason) {
      if (first === undefined) throw new Error(reason);
    },
  });
  return first;
}

/** The header decides how all records are read, so what is wrong with it must not pass for a strange name. */
function checkedHeader(fields: readonly string[], bytes: Buffer): readonly string[] {
  if (!isUtf8(bytes)) throw new Error('is not valid UTF-8: convert the file');
  if (fields.some((name) => /\r(?!\n)/.test(name))) {
    throw new Error('has a carriage return in a name: lines have to end with LF or CR LF, so convert the file');
  }
  return fields;
}
