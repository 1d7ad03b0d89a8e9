import fc from 'fast-check';
import type { Key } from '../../src/element/key.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 60 }),
  fc.constantFrom('', 'a', '__proto__', '\0', 'x'.repeat(42), 'x'.repeat(43), 'é'.repeat(43), '😀'.repeat(50)),
);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.constantFrom(0, -0, 2 ** 31, -(2 ** 31), 2 ** 31 - 1, -(2 ** 31) - 1, 2 ** 53, Infinity, -Infinity),
);

/** Any key. Small ones are likely to come twice, so that equal keys are met too. */
export const anyKey: fc.Arbitrary<Key> = fc.letrec<{ key: Key; tuple: readonly Key[] }>((tie) => ({
  key: fc.oneof(
    { maxDepth: 3 },
    text,
    number,
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom<Key>(1, '1', 1n, true),
    tie('tuple'),
  ),
  tuple: fc.array(tie('key'), { maxLength: 4 }),
})).key;
