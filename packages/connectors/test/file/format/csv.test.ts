import { fc, test as property } from '@fast-check/vitest';
import { readerContext } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { csv, fileSource, jsonLines, type BytePosition, type CsvOptions } from '../../../src/file/index.js';
import { csvRecords } from '../../../src/file/format/csv-records.js';
import { filesOf, shortReads } from '../../support/files.js';
import { drain, readAll } from '../../support/reading.js';

const read = async (
  content: string | Uint8Array,
  options: CsvOptions<string>,
  bytesPerRead = 1_000_000,
  max?: number,
) => {
  const fileSystem = shortReads(await filesOf({ in: content }), bytesPerRead);
  return readAll(fileSource({ path: 'in', format: csv(options), fileSystem }), {}, max);
};
const AB = { columns: ['a', 'b'] } as const;

describe('CSV without a header', () => {
  test.each([
    [
      '1,2\n3,4\n',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    [
      '1,2\r\n\r\n\n3,4',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['"1","2"\n', [{ a: '1', b: '2' }]],
    [
      '"a ""quote""","x,\ny"\r\n3,"\r\n"',
      [
        { a: 'a "quote"', b: 'x,\ny' },
        { a: '3', b: '\r\n' },
      ],
    ],
    ['"",\n', [{ a: '', b: '' }]],
    ['ż,"漢\n字"', [{ a: 'ż', b: '漢\n字' }]],
    ['\u{feff}"1",2', [{ a: '1', b: '2' }]],
    [' 1 , 2\n', [{ a: ' 1 ', b: ' 2' }]],
  ])('%j has the records %j, in reads of any length', async (content, expected) => {
    for (const bytes of [1, 2, 3, 7, 1000]) {
      expect(await read(content, AB, bytes)).toEqual(expected);
      expect(await read(content, AB, bytes, 1)).toEqual(expected);
    }
  });
  test('knows other delimiters and quotes', async () => {
    const options = { ...AB, delimiter: '||', quote: "'" };
    expect(await read("1||'2||''x'''\n3||\"4\"", options)).toEqual([
      { a: '1', b: "2||'x'" },
      { a: '3', b: '"4"' },
    ]);
  });
  test('cannot be read without columns', async () => {
    await expect(read('1,2', {})).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('a CSV header', () => {
  const content = '"x ""1""","b\nb",c\n1,2,3\n4,"5\n",6\n';
  test('names the columns, also in quotes and on several lines', async () => {
    for (const bytes of [1, 5, 1000]) {
      expect(await read(content, { header: true }, bytes)).toEqual([
        { 'x "1"': '1', 'b\nb': '2', c: '3' },
        { 'x "1"': '4', 'b\nb': '5\n', c: '6' },
      ]);
    }
  });
  test('lets columns be chosen by name', async () => {
    expect(await read(content, { header: true, columns: ['c', 'x "1"'] })).toEqual([
      { c: '3', 'x "1"': '1' },
      { c: '6', 'x "1"': '4' },
    ]);
  });
  test('is read again by a reader that resumes', async () => {
    const disk = await filesOf({ in: content });
    const source = fileSource({ path: 'in', format: csv({ header: true, columns: ['c'] }), fileSystem: disk });
    const first = await source.open({ id: 'in' }, undefined, readerContext());
    expect(await first.poll(1)).toEqual([{ c: '3' }]);
    expect(first.position()).toEqual({ kind: 'byte', offset: 24, line: 4 });
    const resumed = await source.open({ id: 'in' }, first.position(), readerContext());
    expect((await drain(resumed)).records).toEqual([{ c: '6' }]);
    await first.close();
    expect(disk.openHandles).toBe(0);
  });
  test.each([
    ['a,b\n', { header: true, columns: ['a', 'z'] }, /header does not name z but a, b/],
    ['a,a\n', { header: true }, /header names a column twice: a in a, a/],
    ['a,__proto__\n', { header: true }, /header names a column __proto__, which records cannot have/],
    ['a,b\r1,2\r3,4\r', { header: true }, /header has a carriage return in a name: .* LF or CR LF/],
    [Buffer.from('na\u00efve,b\n1,2\n', 'latin1'), { header: true }, /header is not valid UTF-8: convert/],
    ['a,"b\n1,2\n', { header: true }, /header opens a quote that is never closed/],
  ])('of %j does not fit %j', async (content, options, message) => {
    const failure = read(content, options);
    await expect(failure).rejects.toMatchObject({ code: 'SOURCE_MALFORMED', recoverable: false });
    await expect(failure).rejects.toThrow(message);
  });
  test('may name columns twice, or in a strange way, that nobody asks for', async () => {
    const content = 'a,x,x,__proto__\n1,2,3,4\n';
    expect(await read(content, { header: true, columns: ['a'] })).toEqual([{ a: '1' }]);
    await expect(read(content, { header: true, columns: ['x'] })).rejects.toThrow(/names a column twice: x/);
  });
  test('alone, or nothing at all, is no record', async () => {
    expect(await read('a,b\n', { header: true })).toEqual([]);
    expect(await read('a,b', { header: true })).toEqual([]);
    expect(await read('', { header: true })).toEqual([]);
  });
});

describe('malformed CSV', () => {
  test.each([
    ['1,2\n3\n4,5\n', /line 2 has 1 fields and not 2/],
    ['1,2\n\n"3\n3",4\n5,6,7\n', /line 5 has 3 fields and not 2/],
    ['1,2\n3,a"b\n', /line 2 has a quote inside of a field/],
    ['1,2\n3,"a"b\n', /line 2 has text between a closing quote and the end/],
    ['1,2\n3,"4\n5,6\n', /line 2 opens a quote that is never closed/],
  ])('%j fails with its line number', async (content, message) => {
    for (const bytes of [1, 1000]) await expect(read(content, AB, bytes)).rejects.toThrow(message);
  });

  test('is passed over line by line, and what is whole is read', async () => {
    const content = '1,2\nx\n3,4\n5,a"b\n"6\n6",7\n8,"9"x\n10,11\n12,"13\n14,15\n';
    for (const bytes of [1, 3, 1000]) {
      const disk = shortReads(await filesOf({ in: content }), bytes);
      const source = fileSource({ path: 'in', format: csv(AB), fileSystem: disk, onMalformed: { skipTo: 'bad' } });
      expect((await readAll(source)).map(({ a }) => a)).toEqual(['1', '3', '6\n6', '10', '14']);
      const bad = await readAll(
        fileSource({ path: 'bad', format: jsonLines<{ line: number; text: string }>(), fileSystem: disk }),
      );
      expect(bad.map(({ line, text }) => [line, text])).toEqual([
        [2, 'x\n'],
        [4, '5,a"b\n'],
        [7, '8,"9"x\n'],
        [9, '12,"13\n'],
      ]);
    }
  });

  test('cannot swallow more than the limit of bytes behind a quote that stays open', async () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => `${String(i)},x`);
    const content = ['0,"open', ...rows].join('\n');
    const disk = await filesOf({ in: content });
    const options = { path: 'in', format: csv(AB), fileSystem: disk, maxLineBytes: 200_000 };
    await expect(readAll(fileSource(options))).rejects.toThrow(/line 1 opens a quote/);
    expect(await readAll(fileSource({ ...options, onMalformed: { skipTo: 'bad' } }))).toHaveLength(60_000);
  });
});

const field = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', 'x', ' ') }),
);
// A lone CR is a line end to nobody here, and the writer's parser counterpart trims nothing.
const table = fc
  .integer({ min: 1, max: 4 })
  .chain((width) => fc.array(fc.array(field, { minLength: width, maxLength: width })));

property.prop([table, fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 4 })])(
  'what is written by hand is what is read, and every position leads to the rest',
  async (rows, lineEnd, bytes, max) => {
    const columns = (rows[0] ?? ['']).map((_, i) => `c${String(i)}`);
    const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`;
    const content = rows.map((row) => row.map(quoted).join(',') + lineEnd).join('');
    const fileSystem = shortReads(await filesOf({ in: content }), bytes);
    const source = fileSource({ path: 'in', format: csv({ columns }), fileSystem });
    const { records, positions } = await drain(await source.open({ id: 'in' }, undefined, readerContext()), max);
    const asRows = (found: readonly Record<string, string>[]) => found.map((row) => columns.map((name) => row[name]));
    expect(asRows(records)).toEqual(rows);
    for (const { count, position } of positions) {
      const { offset, line } = position as BytePosition;
      expect(line).toBe(Buffer.from(content).subarray(0, offset).toString().split('\n').length);
      const rest = await drain(await source.open({ id: 'in' }, position, readerContext()));
      expect(asRows(rest.records)).toEqual(rows.slice(count));
    }
  },
);

property.prop([fc.string({ unit: fc.constantFrom(',', '\n', '\r', 'x', 'ż', ' ', ';') })])(
  'lines without quotes have the records that the parser finds in them',
  (text) => {
    // A quote character that does not occur takes the fast way, one that occurs once at the end the parser's.
    const visit = (content: string): unknown[] => {
      const found: unknown[] = [];
      csvRecords(
        Buffer.from(content),
        true,
        { delimiter: ',', quote: '"', maxRecordBytes: 1000 },
        {
          record: (fields, _start, end) => found.push({ fields, end }),
          malformed: (start, end, reason) => found.push({ start, end, reason }),
        },
      );
      return found;
    };
    const lines = text === '' ? '' : text + '\n';
    expect(visit(lines)).toEqual(visit(lines + '""\n').slice(0, -1));
  },
);
