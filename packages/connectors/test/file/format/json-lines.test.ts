import { describe, expect, test } from 'vitest';
import { fileSource, jsonLines } from '../../../src/file/index.js';
import { filesOf } from '../../support/files.js';
import { readAll } from '../../support/reading.js';

const read = async (content: string | Uint8Array, schema?: object) => {
  const fileSystem = await filesOf({ in: content });
  return readAll(fileSource({ path: 'in', format: jsonLines({ schema }), fileSystem }));
};
const SCHEMA = { type: 'object', required: ['n'], properties: { n: { type: 'integer', minimum: 0 } } };

describe('lines of JSON', () => {
  test('are values of any type; white space is none', async () => {
    expect(await read('{"a":"\\n"}\r\n \t\n[1]\n"x"\nnull\n\n2')).toEqual([{ a: '\n' }, [1], 'x', null, 2]);
  });
  test('must be one value each, though two of them together might be', async () => {
    await expect(read('1\n[2\n3]\n')).rejects.toThrow(/line 2 is not JSON/);
    await expect(read('1\n2,3\n')).rejects.toThrow(/line 2 is not JSON/);
  });
  test('must be UTF-8', async () => {
    await expect(read(Buffer.from([0x22, 0xff, 0x22]))).rejects.toThrow(/line 1 is not valid UTF-8/);
  });
});

describe('a line whose value no state could keep', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  test.each([
    ['{"__proto__":1}', /line 2 has a property named __proto__/],
    ['[{"a":{"\\u005f_proto__":{}}}]', /line 2 has a property named __proto__/],
    ['{"__keys__":1}', /line 2 has a property named __keys__/],
    [nested(257), /line 2 is nested more than 256 deep/],
  ])('%s is malformed, and is passed over where malformed lines are', async (line, message) => {
    await expect(read(`1\n${line}\n2\n`)).rejects.toThrow(message);
    const fileSystem = await filesOf({ in: `1\n${line}\n2\n` });
    expect(
      await readAll(fileSource({ path: 'in', format: jsonLines(), fileSystem, onMalformed: { skipTo: 'bad' } })),
    ).toEqual([1, 2]);
  });
  test('is not one that only looks like it', async () => {
    const lines = ['"__proto__"', '{"a":"__keys__"}', '{"\\u0061":1}', nested(256)];
    expect(await read(lines.join('\n'))).toEqual(lines.map((line) => JSON.parse(line) as unknown));
  });
});

describe('a schema', () => {
  test('lets through what fits it', async () => {
    expect(await read('{"n":1}\n{"n":2,"more":true}\n', SCHEMA)).toEqual([{ n: 1 }, { n: 2, more: true }]);
  });
  test('makes all else malformed, with what is wrong', async () => {
    await expect(read('{"n":1}\n{"n":-1}\n', SCHEMA)).rejects.toThrow(
      /line 2 does not fit the schema: line\/n must be >= 0/,
    );
    await expect(read('{}\n', SCHEMA)).rejects.toThrow(/line 1 does not fit the schema.*required property 'n'/);
  });
  test.each([
    [{ properties: {}, requird: ['n'] }, /unknown keyword: "requird"/],
    [{ format: 'phone' }, /unknown format "phone"/],
    [{ $async: true }, /\$async is not supported/],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, /known are draft 7, 2019-09 and 2020-12/],
    [{ $schema: 4 }, /its \$schema is 4/],
  ])('of which something would not be checked is refused: %j', async (schema, message) => {
    const failure = read('{}', schema);
    await expect(failure).rejects.toMatchObject({ code: 'CONFIG_INVALID', recoverable: false });
    await expect(failure).rejects.toThrow(message);
  });
  test('checks formats, and is read by the draft that it names', async () => {
    await expect(read('"x"', { type: 'string', format: 'date-time' })).rejects.toThrow(
      /line must match format "date-time"/,
    );
    const tuple = { type: 'array', prefixItems: [{ type: 'number' }], items: false };
    const draft = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...tuple };
    expect(await read('[1]', draft)).toEqual([[1]]);
    await expect(read('[1,2]', draft)).rejects.toThrow(/line must NOT have more than 1 items/);
    await expect(read('[1]', tuple)).rejects.toThrow(/unknown keyword: "prefixItems"/);
    const older = { $schema: 'https://json-schema.org/draft/2019-09/schema', dependentRequired: { a: ['b'] } };
    await expect(read('{"a":1}', older)).rejects.toThrow(/must have property b/);
  });
  test('that is none is refused before anything is read', async () => {
    await expect(read('{}', { type: 'nonsense' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      recoverable: false,
    });
  });
});
