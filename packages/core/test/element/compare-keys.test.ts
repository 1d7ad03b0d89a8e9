import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { compareKeys } from '../../src/element/compare-keys.js';
import { keyIdentity } from '../../src/element/key-identity.js';
import { anyKey } from './keys.js';

property.prop([anyKey, anyKey])('equal keys, and no others, compare as equal, whichever comes first', (a, b) => {
  expect(compareKeys(a, b) === 0).toBe(keyIdentity(a) === keyIdentity(b));
  expect(Math.sign(compareKeys(a, b)) + Math.sign(compareKeys(b, a))).toBe(0);
});

property.prop([fc.array(anyKey, { maxLength: 8 }), fc.infiniteStream(fc.nat())])(
  'keys have one order, in whatever order they are given',
  (keys, random) => {
    const shuffled = keys.map((key) => [random.next().value as number, key] as const).sort(([a], [b]) => a - b);
    const identities = (sorted: readonly (typeof keys)[number][]): unknown[] => sorted.map(keyIdentity);
    expect(identities(shuffled.map(([, key]) => key).sort(compareKeys))).toEqual(
      identities([...keys].sort(compareKeys)),
    );
  },
);

test('keys of one kind are in the order of their values, tuples element by element', () => {
  expect([10, 9, -1].sort(compareKeys)).toEqual([-1, 9, 10]);
  expect(['b', 'a', 'ab'].sort(compareKeys)).toEqual(['a', 'ab', 'b']);
  expect([['a', 2], ['a'], ['a', 1, 'x']].sort(compareKeys)).toEqual([['a'], ['a', 1, 'x'], ['a', 2]]);
});
