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
  test('that is none is refused before anything is read', async () => {
    await expect(read('{}', { type: 'nonsense' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      recoverable: false,
    });
  });
});
