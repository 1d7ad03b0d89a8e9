import { nextTurn, WeirError, type Clock } from '@weir/core/contracts';
import type { FileMetaData, ParquetScan, SchemaTree } from 'hyparquet';
import type { parquetHeader } from 'hyparquet/src/column.js';
import type { RowFormat, RowGroup, RowGroups } from '../decoder.js';
import { missingPeer, outdatedPeer } from '../missing-peer.js';
import { ColumnFile } from './column-file.js';
import { conversionOf, readDecimalsRaw, timeParsers, type Conversion } from './exact-values.js';
import type { ExactValues } from './value-forms.js';

export interface ParquetOptions<T> extends Partial<ExactValues> {
  /** The columns that are read; absent: all. Others cost nothing. */
  readonly columns?: readonly (keyof T & string)[] | undefined;
}

/**
 * Rows of a Parquet file as objects; `T` is what the caller knows of the columns that are read. Values are exact or refused: 64-bit integers are
 * bigints, decimals are texts ('0.35'), times are Dates, bytes without a text type are Uint8Arrays, and the options say what else they can be.
 * Fails with SOURCE_MALFORMED, which a restart does not mend, if the file is damaged (page checksums are compared where the file has some), lacks a
 * column, or holds a value that the chosen form would change. Needs the packages hyparquet and hyparquet-compressors. A row group is decoded as a
 * whole, the next one while this one is read.
 */
export function parquet<T extends object = Record<string, unknown>>(options: ParquetOptions<T> = {}): RowFormat<T> {
  const { int64 = 'bigint', decimals = 'text', timestamps = 'date', binary = 'bytes' } = options;
  const exact: ExactValues = { int64, decimals, timestamps, binary };
  return {
    kind: 'rows',
    async open(file, clock) {
      const { hyparquet, compressors, parquetHeader } = await loadReaders();
      const columnFile = new ColumnFile(file);
      const metadata = await hyparquet.parquetMetadataAsync(columnFile);
      // The reader leaves out groups without rows, so they must not be counted either.
      metadata.row_groups = metadata.row_groups.filter(({ num_rows }) => num_rows > 0n);
      const columns = columnsOf(hyparquet.parquetSchema(metadata), options.columns);
      const read = columns.map((column) => ({ name: column.element.name, convert: conversionOf(column, exact) }));
      readDecimalsRaw(metadata);
      const scan = await hyparquet.parquetScan({
        file: columnFile,
        metadata,
        compressors,
        columns: namesOf(columns),
        parsers: timeParsers(timestamps),
        utf8: binary === 'text',
      });
      return new ParquetGroups<T>({ scan, metadata, file: columnFile, columns: read, parquetHeader, clock });
    },
  };
}

const PEERS = { user: 'parquet()', packages: 'hyparquet hyparquet-compressors' };

async function loadReaders() {
  const readers = await importReaders();
  if (!('parquetScan' in readers.hyparquet)) throw outdatedPeer(PEERS);
  return readers;
}

/** Each import is awaited right inside of the `try`: for bundlers that makes a package optional, one that is not installed is left out. */
async function importReaders() {
  try {
    const hyparquet = await import('hyparquet');
    const { parquetHeader } = await import('hyparquet/src/column.js');
    const { compressors } = await import('hyparquet-compressors');
    const zlib = await import('node:zlib');
    // Its own gzip does not compare checksums.
    const checked = { ...compressors, GZIP: (input: Uint8Array): Uint8Array => zlib.gunzipSync(input) };
    return { hyparquet, parquetHeader, compressors: checked };
  } catch (error) {
    throw missingPeer(PEERS, error);
  }
}

function namesOf(columns: readonly SchemaTree[]): string[] {
  return columns.map(({ element }) => element.name);
}

function columnsOf({ children }: SchemaTree, wanted: readonly string[] | undefined): readonly SchemaTree[] {
  if (wanted === undefined) return children;
  return wanted.map((name) => {
    const column = children.find(({ element }) => element.name === name);
    if (column !== undefined) return column;
    throw new WeirError(
      'SOURCE_MALFORMED',
      `There is no column ${name}, but ${namesOf(children).join(', ')}: correct parquet({ columns }), or give the file that was meant.`,
      { recoverable: false },
    );
  });
}

type Column = ArrayLike<unknown>;

interface ReadColumn {
  readonly name: string;
  readonly convert: Conversion | undefined;
}
interface OpenParquet {
  readonly scan: ParquetScan;
  readonly metadata: FileMetaData;
  readonly file: ColumnFile;
  readonly columns: readonly ReadColumn[];
  readonly parquetHeader: typeof parquetHeader;
  readonly clock: Clock;
}

class ParquetGroups<T> implements RowGroups<T> {
  readonly #open: OpenParquet;
  readonly #names: readonly string[];
  readonly starts: readonly number[];
  readonly rowCount: number;

  constructor(open: OpenParquet) {
    const { scan, metadata, columns } = open;
    this.#open = open;
    this.#names = columns.map(({ name }) => name);
    this.starts = scan.ranges.map(({ rowStart }) => rowStart);
    this.rowCount = Number(metadata.num_rows);
    if (scan.ranges.length !== metadata.row_groups.length || (scan.ranges.at(-1)?.rowEnd ?? 0) !== this.rowCount)
      throw new Error(`its row groups do not have the ${String(this.rowCount)} rows that it says it has`);
  }

  async load(group: number, signal: AbortSignal): Promise<RowGroup<T>> {
    const { scan, metadata, file, parquetHeader, clock } = this.#open;
    const range = scan.ranges[group];
    if (range === undefined) throw new RangeError(`row group ${String(group)} of ${String(this.starts.length)}`);
    const count = range.rowEnd - range.rowStart;
    const columns: Column[] = [];
    for (const { name, convert } of this.#open.columns) {
      await file.hold(metadata, group, name, parquetHeader);
      const values = await scan.readColumn({ column: name, ...range });
      if (values.length !== count)
        throw new Error(
          `row group ${String(group)} has ${String(values.length)} values of column ${name} instead of ${String(count)}`,
        );
      columns.push(convert === undefined ? values : Array.from(values, convert));
      // Decoding one column of a group takes tens of milliseconds.
      await nextTurn(clock);
      signal.throwIfAborted();
    }
    return { rows: (from, to) => rows(this.#names, columns, from, to) as T[] };
  }
}

function rows(names: readonly string[], columns: readonly Column[], from: number, to: number): object[] {
  const result = new Array<object>(to - from);
  for (let i = from; i < to; i++) {
    const row: Record<string, unknown> = {};
    for (let c = 0; c < names.length; c++) row[names[c]!] = columns[c]![i];
    result[i - from] = row;
  }
  return result;
}
