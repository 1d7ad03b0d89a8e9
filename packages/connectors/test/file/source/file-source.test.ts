import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { localFileSystem, type FileSystem } from '@weir/core/contracts';
import { sourceSuite, type SourceFixture } from '@weir/testkit';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { csv, fileSource, jsonLines, parquet, textLines, type Decoder } from '../../../src/file/index.js';
import { filesOf, put, shortReads, unreliableReads } from '../../support/files.js';

const capabilities = { grade: 'replayable', bounded: true } as const;

interface Row {
  readonly id: string;
  readonly note: string;
}
const rows = (count: number, seed: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `${String(seed)}-${String(i)}`,
    note: i % 7 === 0 ? 'ż "q", 漢' : 'x',
  }));
const EXPECTED = { 'a.in': rows(60, 1), 'b.in': [], 'c/d.in': rows(1, 3), 'e.in': rows(23, 4) };

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const asCsv = (records: readonly Row[]): string =>
  'id,other,note\r\n' + records.map(({ id, note }) => `${id},,${quoted(note)}`).join('\r\n');
const asJson = (records: readonly Row[]): string => records.map((row) => JSON.stringify(row) + '\n\n').join('');
const asParquet = (records: readonly Row[]): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'note', data: records.map(({ note }) => note), type: 'STRING' },
        { name: 'id', data: records.map(({ id }) => id), type: 'STRING' },
      ],
      rowGroupSize: [7, 20],
    }),
  );

interface Kind {
  readonly encode: (records: readonly Row[]) => string | Uint8Array;
  readonly format: Decoder<Row>;
  readonly compression?: 'gzip';
  readonly gone: unknown;
}
const KINDS: Record<string, Kind> = {
  'JSON lines': { encode: asJson, format: jsonLines<Row>(), gone: { kind: 'byte', offset: 1e6, line: 9 } },
  CSV: {
    encode: asCsv,
    format: csv({ header: true, columns: ['id', 'note'] }),
    gone: { kind: 'byte', offset: 20, line: 2 },
  },
  'gzipped JSON lines': {
    encode: (records) => gzipSync(asJson(records)),
    format: jsonLines<Row>(),
    compression: 'gzip',
    gone: { kind: 'byte', offset: 1e6, line: 9 },
  },
  Parquet: { encode: asParquet, format: parquet<Row>({ columns: ['id', 'note'] }), gone: { kind: 'row', row: 61 } },
};

async function fixture(kind: Kind, disk: FileSystem, root: string): Promise<SourceFixture<Row>> {
  for (const [name, records] of Object.entries(EXPECTED)) await put(disk, `${root}/${name}`, kind.encode(records));
  const { format, compression, gone } = kind;
  return {
    source: () => fileSource({ path: root, format, compression, fileSystem: disk }),
    expected: EXPECTED,
    gone: { splitId: 'a.in', position: gone },
  };
}

for (const [name, kind] of Object.entries(KINDS)) {
  describe(`a source of files of ${name}`, () => {
    sourceSuite(test, { capabilities, create: async () => fixture(kind, await filesOf({}), 'in') });
  });
  describe(`a source of files of ${name} whose reads are short`, () => {
    sourceSuite(test, { capabilities, create: async () => fixture(kind, shortReads(await filesOf({}), 50), 'in') });
  });
  describe(`a source of files of ${name} whose disk fails`, () => {
    sourceSuite(test, {
      capabilities,
      async create() {
        const { fileSystem, ...outside } = unreliableReads(shortReads(await filesOf({}), 50));
        return { ...(await fixture(kind, fileSystem, 'in')), outside };
      },
    });
  });
}

describe('a source of files on a real disk', () => {
  sourceSuite(test, {
    capabilities,
    async create() {
      const folder = await mkdtemp(path.join(tmpdir(), 'weir-source-'));
      const made = await fixture(KINDS['CSV'] as Kind, localFileSystem(), folder);
      return { ...made, dispose: () => rm(folder, { recursive: true }) };
    },
  });
});

test.each([
  [{ path: 'in', format: parquet(), compression: 'gzip' as const }],
  [{ path: 'in', format: parquet(), onMalformed: { skipTo: 'bad' } }],
  [{ path: 'in', format: textLines(), maxLineBytes: 0 }],
])('options that cannot be meant are refused: %j', (options) => {
  expect(() => fileSource<unknown>(options)).toThrow(/CONFIG_INVALID/);
});
