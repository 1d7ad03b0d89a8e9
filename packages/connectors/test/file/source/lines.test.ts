import { gzipSync } from 'node:zlib';
import { fc, test as property } from '@fast-check/vitest';
import { readerContext } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { csv, fileSource, jsonLines, textLines, type BytePosition } from '../../../src/file/index.js';
import { failingReads, filesOf, shortReads } from '../../support/files.js';
import { drain, readAll, splitsOf } from '../../support/reading.js';

const lines = async (content: string | Uint8Array, bytesPerRead?: number): Promise<string[]> => {
  const disk = await filesOf({ 'in.txt': content });
  const fileSystem = bytesPerRead === undefined ? disk : shortReads(disk, bytesPerRead);
  return readAll(fileSource({ path: 'in.txt', format: textLines(), fileSystem }));
};

describe('lines of text', () => {
  test.each([
    ['', []],
    ['\n', ['']],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\n\nb', ['a', '', 'b']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['a\rb\n\r\nc\r', ['a\rb', '', 'c\r']],
    ['\u{feff}a\nb', ['a', 'b']],
    ['\u{feff}', []],
    ['a\n\u{feff}b', ['a', '\u{feff}b']],
  ])('of %j are %j, in reads of any length', async (content, expected) => {
    expect(await lines(content)).toEqual(expected);
    for (const bytes of [1, 2, 3]) expect(await lines(content, bytes)).toEqual(expected);
  });

  test('keep characters whole that two reads have parts of', async () => {
    const text = ['żółw 🐢', '漢字', 'a\u{1f600}'];
    for (let bytes = 1; bytes < 10; bytes++) expect(await lines(text.join('\n'), bytes)).toEqual(text);
  });

  test('go on over many reads, long and short ones', async () => {
    const text = Array.from({ length: 3000 }, (_, i) => `${String(i)}:${'x'.repeat((i * 7919) % 500)}`);
    text[1500] = 'y'.repeat(700_000);
    expect(await lines(text.join('\n'))).toEqual(text);
    expect(await lines(text.join('\r\n') + '\r\n', 10_007)).toEqual(text);
  });

  property.prop([
    fc.array(fc.string({ unit: 'grapheme' }).filter((s) => !/[\r\n]/.test(s) && !s.startsWith('\u{feff}'))),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 1, max: 5 }),
    fc.boolean(),
  ])(
    'are the lines that were written, and every position leads to the rest with the right line number',
    async (text, lineEnd, lastEnds, bytes, max, gzip) => {
      const content = Buffer.from(text.join(lineEnd) + (lastEnds && text.length > 0 ? lineEnd : ''));
      const expected = lastEnds || text.at(-1) !== '' ? text : text.slice(0, -1);
      const name = gzip ? 'in.txt.gz' : 'in.txt';
      const disk = shortReads(await filesOf({ [name]: gzip ? gzipSync(content) : content }), bytes);
      const source = fileSource({ path: name, format: textLines(), fileSystem: disk });
      const split = { id: name };
      const { records, positions } = await drain(await source.open(split, undefined, readerContext()), max);
      expect(records).toEqual(expected);
      for (const { count, position } of positions) {
        const before = content.subarray(0, (position as BytePosition).offset).toString();
        expect(position).toMatchObject({ line: before.split('\n').length });
        const rest = await drain(await source.open(split, position, readerContext()));
        expect(rest.records).toEqual(expected.slice(count));
      }
    },
  );
});

describe('a malformed line', () => {
  const content = ['{"n":1}', '', '{"n":2', '{"n":3}', 'x', '{"n":4}'].join('\n');
  const open = async (onMalformed?: { skipTo: string }) => {
    const disk = await filesOf({ 'in/a.jsonl': content });
    return { disk, source: fileSource({ path: 'in/*.jsonl', format: jsonLines(), fileSystem: disk, onMalformed }) };
  };

  test('fails the job for good, with file and line number', async () => {
    const { source } = await open();
    const failure = readAll(source);
    await expect(failure).rejects.toMatchObject({ code: 'SOURCE_MALFORMED', recoverable: false });
    await expect(failure).rejects.toThrow(/in\/a\.jsonl, line 3 is not JSON/);
  });

  test('has its right line number also after a resume', async () => {
    const disk = await filesOf({ 'in.jsonl': '1\n\n2\n3\nx\n' });
    const source = fileSource({ path: 'in.jsonl', format: jsonLines(), fileSystem: disk });
    const position = { kind: 'byte', offset: 5, line: 4 } as const;
    const reader = await source.open({ id: 'in.jsonl' }, position, readerContext());
    await expect(drain(reader)).rejects.toThrow(/line 5 /);
  });

  test('goes to the side file with file, number, reason and text, and is counted', async () => {
    const { disk, source } = await open({ skipTo: 'bad/lines.jsonl' });
    let counted = 0;
    const metrics = {
      counter: () => ({ add: (n: number) => (counted += n) }),
      histogram: () => ({ record: () => {} }),
      gauge: () => () => {},
    };
    expect(await readAll(source, { metrics })).toEqual([{ n: 1 }, { n: 3 }, { n: 4 }]);
    const skipped = await readAll(fileSource({ path: 'bad/lines.jsonl', format: jsonLines(), fileSystem: disk }));
    expect(skipped).toEqual([
      { file: 'in/a.jsonl', line: 3, reason: expect.stringContaining('is not JSON'), text: '{"n":2\n' },
      { file: 'in/a.jsonl', line: 5, reason: expect.stringContaining('is not JSON'), text: 'x\n' },
    ]);
    expect(counted).toBe(2);
  });

  test('is in the side file before the records behind it are out', async () => {
    const { disk, source } = await open({ skipTo: 'bad/lines.jsonl' });
    const reader = await source.open({ id: 'a.jsonl' }, undefined, readerContext());
    await reader.poll(1024);
    const after = disk.crash();
    const skipped = await readAll(fileSource({ path: 'bad', format: jsonLines(), fileSystem: after }));
    expect(skipped).toHaveLength(2);
    await reader.close();
  });

  test('does not become a part of a line that a crash has torn in the side file', async () => {
    const { disk, source } = await open({ skipTo: 'lines.jsonl' });
    const torn = await disk.open('lines.jsonl', 'create');
    await torn.write(Buffer.from('{"file":"in/'));
    await torn.close();
    await readAll(source);
    const written = await readAll(fileSource({ path: 'lines.jsonl', format: textLines(), fileSystem: disk }));
    expect(written[0]).toBe('{"file":"in/');
    expect(JSON.parse(written[1] as string)).toMatchObject({ line: 3 });
  });

  test('is one that is no UTF-8, whatever the format', async () => {
    const bytes = Buffer.concat([
      Buffer.from('"a",b\n'),
      Buffer.from([0x22, 0xff, 0x22, 0x2c, 0x62, 10]),
      Buffer.from('"c",d'),
    ]);
    for (const format of [textLines(), csv({ columns: ['x', 'y'] })]) {
      const disk = await filesOf({ in: bytes });
      await expect(
        readAll<unknown, { id: string }, unknown>(fileSource<unknown>({ path: 'in', format, fileSystem: disk })),
      ).rejects.toThrow(/line 2 is not valid UTF-8/);
      const skipping = fileSource<unknown>({ path: 'in', format, fileSystem: disk, onMalformed: { skipTo: 'bad' } });
      expect(await readAll(skipping)).toHaveLength(2);
    }
  });

  test('is never longer than the limit', async () => {
    const disk = await filesOf({ in: `a\n${'x'.repeat(2_000_000)}` });
    const source = fileSource({ path: 'in', format: textLines(), fileSystem: disk, maxLineBytes: 1_000_000 });
    await expect(readAll(source)).rejects.toThrow(/in, line 2 is longer than the 1000000 bytes of maxLineBytes/);
  });
});

describe('a position that is gone', () => {
  const resume = async (content: string | undefined, position: BytePosition, name = 'in.txt') => {
    const disk = await filesOf(
      content === undefined ? { other: '' } : { [name]: name.endsWith('gz') ? gzipSync(content) : content },
    );
    const source = fileSource({ path: name, format: textLines(), fileSystem: disk });
    return drain(await source.open({ id: name }, position, readerContext()));
  };
  const at = (offset: number, line: number): BytePosition => ({ kind: 'byte', offset, line });

  test('is named with what is there instead', async () => {
    await expect(resume('a\nb\n', at(10, 6))).rejects.toThrow(/SOURCE_POSITION_GONE.*in\.txt.*byte 10.*only 4/);
    await expect(resume('a\nb\n', at(10, 6), 'in.gz')).rejects.toThrow(/SOURCE_POSITION_GONE.*in\.gz.*byte 10/);
    await expect(resume(undefined, at(2, 2))).rejects.toThrow(/SOURCE_POSITION_GONE.*byte 2.*not there any more/);
    await expect(resume(undefined, at(0, 1))).rejects.toMatchObject({ code: 'SOURCE_POSITION_GONE' });
  });
  test('is one in the middle of a line: another file has taken the name', async () => {
    await expect(resume('abc\nd\n', at(2, 2))).rejects.toThrow(/SOURCE_POSITION_GONE.*changed/);
    await expect(resume('abcd\n', at(2, 2), 'in.gz')).rejects.toThrow(/SOURCE_POSITION_GONE.*changed/);
  });
  test('is not the end of the file, with or without a line end', async () => {
    expect((await resume('a\nb', at(3, 2))).records).toEqual([]);
    expect((await resume('a\nb\n', at(4, 3))).records).toEqual([]);
    expect((await resume('a\nb\nc', at(4, 3))).records).toEqual(['c']);
  });
  test('is one of another kind of format', async () => {
    const disk = await filesOf({ 'in.txt': 'a\n' });
    const source = fileSource({ path: 'in.txt', format: textLines(), fileSystem: disk });
    const opening = source.open({ id: 'in.txt' }, { kind: 'row', row: 1 }, readerContext());
    await expect(opening).rejects.toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE' });
  });
});

describe('a reader', () => {
  test('answers at once as long as it has bytes, and leaves no handle open', async () => {
    const disk = await filesOf({ in: 'a\nb\nc\nd\n' });
    const source = fileSource({ path: 'in', format: textLines(), fileSystem: disk });
    const reader = await source.open({ id: 'in' }, undefined, readerContext());
    expect(reader.poll(2)).toEqual(['a', 'b']);
    expect(reader.poll(1)).toEqual(['c']);
    expect(reader.poll(9)).toEqual(['d']);
    expect(await reader.poll(9)).toBe('end');
    await reader.close();
    expect(disk.openHandles).toBe(0);
  });
  test('fails with what the disk fails with, and leaves no handle open', async () => {
    const disk = await filesOf({ in: 'a\n'.repeat(400_000) });
    disk.fail({ op: 'read' }, 'EIO', { nth: 3, times: 100 });
    const source = fileSource({ path: 'in', format: textLines(), fileSystem: disk });
    const [split] = await splitsOf(source);
    const reader = await source.open(split!, undefined, readerContext());
    await expect(drain(reader)).rejects.toMatchObject({ code: 'EIO' });
    await reader.close();
    expect(disk.openHandles).toBe(0);
  });
  test.each([
    ['cut off', (whole: Buffer) => whole.subarray(0, whole.length - 20)],
    ['cut off in the check at its end', (whole: Buffer) => whole.subarray(0, whole.length - 3)],
    ['empty', () => Buffer.alloc(0)],
    ['no gzip', () => Buffer.from('line 1\nline 2\n')],
    ['damaged', (whole: Buffer) => Buffer.concat([whole.subarray(0, -8), Buffer.alloc(4, 7), whole.subarray(-4)])],
  ])('gives up for good on a gzip file that is %s, and names it', async (_, damage) => {
    const whole = gzipSync(Array.from({ length: 1000 }, (_, i) => `line ${String(i)}`).join('\n'));
    const disk = await filesOf({ 'in.gz': damage(whole) });
    const failure = readAll(fileSource({ path: 'in.gz', format: textLines(), fileSystem: disk }));
    await expect(failure).rejects.toMatchObject({ code: 'SOURCE_MALFORMED', recoverable: false });
    await expect(failure).rejects.toThrow(/file in\.gz cannot be decompressed as gzip beyond byte \d+ of its content/);
  });
  test('leaves it to the restart strategy if a gzip file cannot be read', async () => {
    const disk = await filesOf({ 'in.gz': gzipSync('a\n') });
    const failing = failingReads(disk);
    const failure = readAll(fileSource({ path: 'in.gz', format: textLines(), fileSystem: failing }));
    await expect(failure).rejects.toThrow(/EIO/);
    await expect(failure).rejects.not.toMatchObject({ recoverable: false });
  });
  test('reads gzip files of several members, also when the name does not say it', async () => {
    const disk = await filesOf({ in: Buffer.concat([gzipSync('a\nb'), gzipSync('c\n')]) });
    const source = fileSource({ path: 'in', format: textLines(), fileSystem: disk, compression: 'gzip' });
    expect(await readAll(source)).toEqual(['a', 'bc']);
  });
});
