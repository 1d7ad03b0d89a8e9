import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readerContext } from '@weir/testkit';
import { parquetMetadataAsync } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { fileSource, parquet, type ParquetOptions } from '../../../src/file/index.js';
import { missingPeer, outdatedPeer } from '../../../src/file/format/missing-peer.js';
import { filesOf } from '../../support/files.js';
import { drain, readAll } from '../../support/reading.js';

const CONTENT = new Uint8Array(
  parquetWriteBuffer({
    columnData: [
      { name: 'n', data: [1n, 2n, null, 4n, 2n ** 60n], type: 'INT64' },
      { name: 'text', data: ['a', 'b', null, 'a', 'ż'], type: 'STRING' },
      { name: 'at', data: [new Date(0), new Date(1), new Date(2), null, new Date(3)], type: 'TIMESTAMP' },
      { name: 'x', data: [0.5, 1, 2, 3, NaN], type: 'DOUBLE' },
    ],
    rowGroupSize: 2,
  }),
);
const read = async (options?: ParquetOptions<Record<string, unknown>>) => {
  const fileSystem = await filesOf({ 'in.parquet': CONTENT });
  return readAll(fileSource({ path: 'in.parquet', format: parquet(options), fileSystem }));
};

describe('Parquet rows', () => {
  test('are objects of all columns', async () => {
    const [first, , third, , last] = await read();
    expect(first).toEqual({ n: 1n, text: 'a', at: new Date(0), x: 0.5 });
    expect([third?.['n'] ?? undefined, third?.['text'] ?? undefined]).toEqual([undefined, undefined]);
    expect(last).toEqual({ n: 2n ** 60n, text: 'ż', at: new Date(3), x: NaN });
  });
  test('have only the columns that are asked for', async () => {
    expect(await read({ columns: ['text'] })).toHaveLength(5);
    expect((await read({ columns: ['x', 'text'] }))[1]).toEqual({ x: 1, text: 'b' });
    const misspelt = read({ columns: ['y'] });
    await expect(misspelt).rejects.toMatchObject({ code: 'SOURCE_MALFORMED', recoverable: false });
    await expect(misspelt).rejects.toThrow(/file in\.parquet cannot be read.*There is no column y, but n, text, at, x/);
  });
  test('have numbers for 64-bit integers if that is wanted and possible', async () => {
    await expect(read({ columns: ['n'], int64: 'number' })).rejects.toThrow(
      /SOURCE_MALFORMED.*Column n holds 1152921504606846976/,
    );
    expect((await read({ columns: ['text', 'x'], int64: 'number' }))[0]).toEqual({ text: 'a', x: 0.5 });
  });
  test('are decoded group by group, the next one ahead, and handed out at once', async () => {
    const fileSystem = await filesOf({ 'in.parquet': CONTENT });
    const source = fileSource({ path: 'in.parquet', format: parquet({ columns: ['text'] }), fileSystem });
    const reader = await source.open({ id: 'in.parquet' }, undefined, readerContext());
    expect(await reader.poll(1)).toEqual([{ text: 'a' }]);
    expect(reader.position()).toEqual({ kind: 'row', row: 1 });
    expect(reader.poll(9)).toEqual([{ text: 'b' }]);
    const { records } = await drain(reader);
    expect(records).toHaveLength(3);
    expect(fileSystem.openHandles).toBe(0);
  });
  test('of a file that is none fail', async () => {
    const fileSystem = await filesOf({ 'in.parquet': 'no parquet at all' });
    const source = fileSource({ path: 'in.parquet', format: parquet(), fileSystem });
    const failure = source.open({ id: 'in.parquet' }, undefined, readerContext());
    await expect(failure).rejects.toMatchObject({ code: 'SOURCE_MALFORMED', recoverable: false });
    await expect(failure).rejects.toThrow(/file in\.parquet cannot be read/);
    expect(fileSystem.openHandles).toBe(0);
  });
});

// Written by pyarrow 22 with page checksums, in row groups of two rows.
const golden = (name: string): Uint8Array => readFileSync(new URL(`../../golden/${name}.parquet`, import.meta.url));
const readGolden = async (
  options: ParquetOptions<Record<string, unknown>>,
  content = golden('pyarrow-none'),
): Promise<Record<string, unknown>[]> => {
  const fileSystem = await filesOf({ 'in.parquet': content });
  return readAll(fileSource({ path: 'in.parquet', format: parquet(options), fileSystem }));
};
const column = async (name: string, options: ParquetOptions<Record<string, unknown>> = {}): Promise<unknown[]> =>
  (await readGolden({ ...options, columns: [name] })).map((row) => row[name] ?? undefined);

describe('Parquet values that JavaScript has no counterpart for', () => {
  test('are exact decimals as texts, or the nearest numbers', async () => {
    expect(await column('price')).toEqual(['0.35', '-12345678901234567890.12', undefined]);
    expect(await column('small')).toEqual(['0.07', '-1.25', '0.00']);
    expect(await column('small', { decimals: 'number' })).toEqual([0.07, -1.25, 0]);
    expect(await column('price', { decimals: 'number' })).toEqual([0.35, -12345678901234567890.12, undefined]);
  });
  test('are refused inside of lists and structures where they would not be exact', async () => {
    await expect(column('prices')).rejects.toThrow(/SOURCE_MALFORMED.*Column prices holds decimals inside of lists/);
  });
  test('are numbers for 64-bit integers in lists and structures, too', async () => {
    expect(await column('struct')).toEqual([{ n: 5n, b: new Uint8Array([1]) }, expect.anything(), undefined]);
    expect((await column('struct', { int64: 'number' }))[0]).toEqual({ n: 5, b: new Uint8Array([1]) });
    expect((await column('list'))[0]).toEqual([1n, 2n ** 60n]);
    await expect(column('list', { int64: 'number' })).rejects.toThrow(/Column list holds 1152921504606846976/);
  });
  test('are Dates only where no part of a millisecond is lost, else nanoseconds', async () => {
    expect(await column('at')).toEqual([new Date(1_700_000_000_123), undefined, new Date(-1)]);
    await expect(column('fine')).rejects.toThrow(
      /part of a millisecond \(1700000000123456000 ns\).*timestamps: 'nanoseconds'/,
    );
    expect(await column('fine', { timestamps: 'nanoseconds' })).toEqual([1_700_000_000_123_456_000n, 1000n, 2000n]);
  });
  test('are bytes that are no text, and a memory of their own', async () => {
    const values = (await column('raw')) as Uint8Array[];
    expect(values).toEqual([new Uint8Array([255, 0]), new Uint8Array(0), new Uint8Array([97, 98, 99])]);
    expect(values.map(({ buffer }) => buffer.byteLength)).toEqual([2, 0, 3]);
    await expect(column('raw', { binary: 'text' })).rejects.toThrow(/SOURCE_MALFORMED.*not valid/);
    expect(await column('text')).toEqual(['ż', '\uFEFFx', undefined]);
  });
});

/** The bytes that a checksum covers. */
async function bytesOfPages(content: Uint8Array): Promise<Set<number>> {
  const file = Uint8Array.from(content).buffer;
  const { row_groups } = await parquetMetadataAsync({
    byteLength: file.byteLength,
    slice: (from, to) => file.slice(from, to),
  });
  const covered = new Set<number>();
  for (const { meta_data: meta } of row_groups.flatMap(({ columns }) => columns)) {
    const reader = { view: new DataView(file), offset: Number(meta!.dictionary_page_offset || meta!.data_page_offset) };
    const end = reader.offset + Number(meta!.total_compressed_size);
    while (reader.offset < end) {
      const { compressed_page_size: size } = parquetHeader(reader);
      for (let i = 0; i < size; i++) covered.add(reader.offset + i);
      reader.offset += size;
    }
  }
  return covered;
}

describe('a damaged Parquet file', () => {
  test.each(['pyarrow-none', 'pyarrow-gzip'])(
    '%s gives the right rows or fails for good, wherever in a page a bit flips',
    async (name) => {
      const content = golden(name);
      const options = { columns: ['price', 'at', 'raw', 'text', 'list', 'struct'] };
      const right = await readGolden(options, content);
      const inPages = await bytesOfPages(content);
      expect(inPages.size).toBeGreaterThan(300);
      for (let at = 4; at < content.length; at += 3) {
        const damaged = Uint8Array.from(content);
        damaged[at]! ^= 1 << (at % 8);
        const outcome = await readGolden(options, damaged).catch((error: unknown) => error);
        // No checksum covers the headers of pages and the description of the file: some damage there is read as something else.
        if (!Array.isArray(outcome))
          expect(outcome, `byte ${String(at)}`).toMatchObject({ code: 'SOURCE_MALFORMED', recoverable: false });
        else if (inPages.has(at)) expect(outcome, `byte ${String(at)}`).toEqual(right);
      }
    },
  );
});

describe('a package that is missing or too old', () => {
  const peers = { user: 'parquet()', packages: 'hyparquet hyparquet-compressors' };
  test('is an error that says what to install', () => {
    const missing = missingPeer(peers, new Error("Cannot find package 'hyparquet'"));
    expect(missing).toMatchObject({ code: 'CONNECTOR_PEER', recoverable: false });
    expect(missing.message).toMatch(/Cannot find package.*npm i hyparquet hyparquet-compressors/);
    const outdated = outdatedPeer(peers);
    expect(outdated).toMatchObject({ code: 'CONNECTOR_PEER', recoverable: false });
    expect(outdated.message).toMatch(/newer.*npm i hyparquet hyparquet-compressors/);
  });
});

const FLIGHTS = fileURLToPath(
  new URL('../../../../../node_modules/vega-datasets/data/flights-3m.parquet', import.meta.url),
);

test.skipIf(!existsSync(FLIGHTS))(
  'three million flights are read, and read on from the middle of a group',
  async () => {
    interface Flight {
      readonly delay: number;
      readonly origin: string;
    }
    const source = fileSource({
      path: FLIGHTS,
      format: parquet<Flight>({ columns: ['delay', 'origin'], int64: 'number' }),
    });
    const split = { id: 'flights-3m.parquet' };
    const count = async (row: number) => {
      const reader = await source.open(split, { kind: 'row', row }, readerContext());
      let rows = 0;
      let first: Flight | undefined;
      for (;;) {
        const answer = await reader.poll(1024);
        if (answer === 'end') break;
        first ??= answer[0];
        rows += answer.length;
      }
      await reader.close();
      return { rows, first };
    };
    expect(await count(0)).toEqual({ rows: 3_000_000, first: { delay: 33, origin: 'LAS' } });
    const { rows } = await count(2_900_000);
    expect(rows).toBe(100_000);
  },
  60_000,
);
