import { nextTurn, WeirError, type Clock } from '@weir/core/contracts';
import type { AsyncBuffer, ParquetScan } from 'hyparquet';
import type { RowFile, RowFormat, RowGroup, RowGroups } from './decoder.js';
import { loadPeer } from './load-peer.js';

export interface ParquetOptions<T> {
  /** The columns that are read; absent: all. Others cost nothing. */
  readonly columns?: readonly (keyof T & string)[] | undefined;
  /** How 64-bit integers come: exact, or as numbers, which fails on a value beyond 2^53. Default 'bigint'. */
  readonly int64?: 'bigint' | 'number' | undefined;
}

/**
 * Rows of a Parquet file as objects; `T` is what the caller knows of the columns that are read. Values are those of hyparquet: texts are
 * strings, times are Dates.
 * Needs the packages hyparquet and hyparquet-compressors. A row group is decoded as a whole, the next one while this one is read.
 */
export function parquet<T extends object = Record<string, unknown>>(options: ParquetOptions<T> = {}): RowFormat<T> {
  return {
    kind: 'rows',
    async open(file, clock) {
      const { hyparquet, compressors } = await loadPeer(READERS);
      const scan = await hyparquet.parquetScan({
        file: asyncBuffer(file),
        compressors,
        ...(options.columns === undefined ? {} : { columns: [...options.columns] }),
      });
      const all = hyparquet.parquetSchema(scan.metadata).children.map(({ element }) => element.name);
      return new ParquetGroups<T>(scan, options.columns ?? all, options.int64 === 'number', clock);
    },
  };
}

const READERS = {
  user: 'parquet()',
  packages: 'hyparquet hyparquet-compressors',
  async load() {
    const [hyparquet, { compressors }] = await Promise.all([import('hyparquet'), import('hyparquet-compressors')]);
    return { hyparquet, compressors };
  },
  fits: ({ hyparquet }: { hyparquet: object }) => 'parquetScan' in hyparquet,
};

type Column = ArrayLike<unknown>;

class ParquetGroups<T> implements RowGroups<T> {
  readonly #scan: ParquetScan;
  readonly #columns: readonly string[];
  readonly #numbers: boolean;
  readonly #clock: Clock;
  readonly starts: readonly number[];
  readonly rowCount: number;

  constructor(scan: ParquetScan, columns: readonly string[], numbers: boolean, clock: Clock) {
    this.#scan = scan;
    this.#columns = columns;
    this.#numbers = numbers;
    this.#clock = clock;
    this.starts = scan.ranges.map(({ rowStart }) => rowStart);
    this.rowCount = Number(scan.metadata.num_rows);
  }

  async load(group: number, signal: AbortSignal): Promise<RowGroup<T>> {
    const range = this.#scan.ranges[group];
    if (range === undefined) throw new RangeError(`row group ${String(group)} of ${String(this.starts.length)}`);
    const columns: Column[] = [];
    for (const column of this.#columns) {
      const values = await this.#scan.readColumn({ column, ...range });
      columns.push(this.#numbers ? withoutBigInts(values, column) : values);
      // Decoding one column of a group takes tens of milliseconds.
      await nextTurn(this.#clock);
      signal.throwIfAborted();
    }
    return { rows: (from, to) => rows(this.#columns, columns, from, to) as T[] };
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

function withoutBigInts(values: Column, column: string): Column {
  const { length } = values;
  const numbers = new Array<unknown>(length);
  for (let i = 0; i < length; i++) {
    const value = values[i];
    const number = typeof value === 'bigint' ? Number(value) : value;
    if (typeof value === 'bigint' && !Number.isSafeInteger(number)) {
      throw new WeirError(
        'SOURCE_MALFORMED',
        `Column ${column} holds ${String(value)}, which is no safe number: read it with int64: 'bigint'.`,
        { recoverable: false },
      );
    }
    numbers[i] = number;
  }
  return numbers;
}

function asyncBuffer({ size, handle }: RowFile): AsyncBuffer {
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(end - start);
      for (let at = 0; at < bytes.length;) {
        const part = await handle.read(start + at, bytes.length - at);
        if (part.length === 0) throw new RangeError(`the file ends before byte ${String(end)}`);
        bytes.set(part, at);
        at += part.length;
      }
      return bytes.buffer;
    },
  };
}
