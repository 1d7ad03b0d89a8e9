import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertKey } from '../../src/element/assert-key.js';
import { keyBytes } from '../../src/element/key-bytes.js';
import { isWeirError } from '../../src/errors.js';
import { anyKey } from './keys.js';

function refusalOf(key: unknown): string {
  try {
    assertKey(key, "operator 'by-user'");
  } catch (error) {
    if (isWeirError(error, 'KEY_INVALID')) {
      expect(error.recoverable).toBe(false);
      return error.message;
    }
    throw error;
  }
  return 'accepted';
}

test('accepts every key', () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      assertKey(key, 'x');
    }),
  );
});

const itself: unknown[] = ['a'];
itself.push(itself);

const REFUSED: [key: unknown, what: string][] = [
  [NaN, 'NaN'],
  [undefined, 'undefined'],
  [null, 'null'],
  [{}, 'an object (Object)'],
  [new Date(0), 'an object (Date)'],
  [new Map(), 'an object (Map)'],
  [new String('a'), 'an object (String)'],
  [Symbol('a'), 'a symbol'],
  [() => 1, 'a function'],
  ['a\ud800', 'a string with a lone surrogate'],
  ['\udc00a', 'a string with a lone surrogate'],
  [['a', [1, NaN]], 'NaN inside an array'],
  [['a', undefined], 'undefined inside an array'],
  [['a', , 'b'], 'undefined inside an array'],
  [itself, 'an array nested deeper than 32 or within itself inside an array'],
];

test.each(REFUSED.map(([key, what]) => ({ key, what })))('refuses $what and says who keyed by it', ({ key, what }) => {
  expect(refusalOf(key)).toContain(`KEY_INVALID: operator 'by-user' was given ${what} as a key`);
});

test('accepts what is nested as deep as it says, and no deeper', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 'a' : [nested(depth - 1)]);
  expect(refusalOf(nested(32))).toBe('accepted');
  expect(keyBytes(nested(32) as never)).toHaveLength(2 + 32 * 2);
  expect(refusalOf(nested(33))).toContain('deeper than 32');
});

test('accepts both infinities', () => {
  expect(refusalOf([Infinity, -Infinity])).toBe('accepted');
});
