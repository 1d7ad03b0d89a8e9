import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readerContext } from '@weir/testkit';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { fileSource, parquet, type ParquetOptions } from '../../../src/file/index.js';
import { loadPeer } from '../../../src/file/format/load-peer.js';
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
    await expect(read({ columns: ['y'] })).rejects.toThrow(/column not found: y/);
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
    await expect(source.open({ id: 'in.parquet' }, undefined, readerContext())).rejects.toThrow(/parquet/i);
    expect(fileSystem.openHandles).toBe(0);
  });
});

describe('a package that is missing or too old', () => {
  const peer = { user: 'parquet()', packages: 'hyparquet hyparquet-compressors', fits: () => true };
  test('is an error that says what to install', async () => {
    const failure = loadPeer({ ...peer, load: () => Promise.reject(new Error("Cannot find package 'hyparquet'")) });
    await expect(failure).rejects.toMatchObject({ code: 'CONNECTOR_PEER', recoverable: false });
    await expect(failure).rejects.toThrow(/Cannot find package.*npm i hyparquet hyparquet-compressors/);
    const old = loadPeer({ ...peer, load: () => Promise.resolve({}), fits: () => false });
    await expect(old).rejects.toThrow(/CONNECTOR_PEER.*newer.*npm i hyparquet hyparquet-compressors/);
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
