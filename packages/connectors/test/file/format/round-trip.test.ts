import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csv, fileSource, jsonLines, textLines, type Decoder, type Encoder } from '../../../src/file/index.js';
import { filesOf } from '../../support/files.js';
import { readAll } from '../../support/reading.js';

async function written<T>(format: Encoder<T>, records: readonly T[]): Promise<Uint8Array> {
  const encode = (await format.encoder())();
  return Buffer.concat(records.map((record) => encode([record])));
}
async function backAgain<T>(format: Encoder<T> & Decoder<T>, records: readonly T[]): Promise<unknown[]> {
  const fileSystem = await filesOf({ in: await written(format, records) });
  return readAll(fileSource({ path: 'in', format, fileSystem }));
}
const refusal = (error: unknown): string => (error as Error).message;

/** Texts of what formats stumble over. */
const text = fc
  .array(fc.constantFrom('a', ',', '"', '\r', '\n', '\uFEFF', '\ud800', 'ż', '😀', ' ', '\0'), { maxLength: 6 })
  .map((parts) => parts.join(''));

describe('what is written', () => {
  test('as lines of text is read back as it was, or refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 4 }), async (records) => {
        const lost = records.some((record) => record.includes('\n') || record.endsWith('\r') || !record.isWellFormed());
        const back = await backAgain(textLines(), records).catch(refusal);
        if (lost) expect(back).toMatch(/SINK_FAILED: A record of textLines\(\) .*Use jsonLines\(\)/);
        else expect(back).toEqual(records);
      }),
    );
  });
  test('as CSV is read back as it was, or refused', async () => {
    const rows = fc.array(fc.record({ a: text, b: text }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.boolean(),
        fc.constantFrom(['a', 'b'] as const, ['b'] as const),
        async (records, header, columns) => {
          const wanted = records.map((record) => Object.fromEntries(columns.map((name) => [name, record[name]])));
          const back = await backAgain(csv({ header, columns }), wanted as { a: string; b: string }[]).catch(refusal);
          if (wanted.some((record) => Object.values(record).some((field) => !field.isWellFormed())))
            expect(back).toMatch(
              /SINK_FAILED: A record cannot be written as CSV: a field holds half of a surrogate pair/,
            );
          else expect(back).toEqual(wanted);
        },
      ),
    );
  });
  test('as lines of JSON is read back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue({ stringUnit: text }), { maxLength: 4 }), async (records) => {
        expect(await backAgain(jsonLines(), records)).toEqual(JSON.parse(JSON.stringify(records)));
      }),
    );
  });
});

test('a record with a property that its CSV file has no column for is refused', async () => {
  await expect(
    written(csv({ header: true }), [
      { a: 1, b: 2 },
      { b: 3, c: 4 },
    ]),
  ).rejects.toThrow(
    /SINK_FAILED.*has the property c, but the columns of this file are those of its first record: a, b\. Name all columns/,
  );
  expect(Buffer.from(await written(csv({ header: true }), [{ a: 1, b: 2 }, { b: 3 }])).toString()).toBe(
    'a,b\n1,2\n,3\n',
  );
});
