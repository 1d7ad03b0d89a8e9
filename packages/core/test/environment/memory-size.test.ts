import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatMemorySize, parseMemorySize, type MemorySize } from '../../src/environment/memory-size.js';

describe('a memory size', () => {
  test.each([
    [4096, 4096],
    ['4096', 4096],
    ['20 kb', 20_480],
    ['20kb', 20_480],
    ['20 K', 20_480],
    ['5 MB', 5_242_880],
    ['1 gb', 2 ** 30],
    ['0.5 kb', 512],
    ['7 bytes', 7],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseMemorySize(text as MemorySize, 'limit')).toBe(bytes);
  });

  test.each([-1, 0.5, NaN, Infinity, '', 'kb', '-1 kb', '1 parsec', '0.3 b', null, undefined, {}, true])(
    'refuses %j',
    (value) => {
      expect(() => parseMemorySize(value as MemorySize, 'limit')).toThrow(/CONFIG_INVALID: limit must .*, but is /);
    },
  );

  test('means the same after it was written down', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 40 }), (bytes) => {
        expect(parseMemorySize(formatMemorySize(bytes) as MemorySize, 'x')).toBe(bytes);
      }),
    );
  });
});
