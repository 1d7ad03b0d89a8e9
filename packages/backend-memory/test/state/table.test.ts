import { keyGroupOf, type Key } from '@weir/core/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyIndex } from '../../src/state/key-index.js';
import { FREE, offsetOf } from '../../src/state/page.js';
import { SEGMENTS, segmentOf } from '../../src/state/segment.js';
import { Table } from '../../src/state/table.js';

const RANGE = { first: 4, last: 11 };
const groupOf = (key: Key): number => RANGE.first + (keyGroupOf(key, 128) % 8);

describe('a table', () => {
  test('finds, lists and removes like a Map, at any order of coming and going', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(30), fc.boolean()), { maxLength: 200 }), (steps) => {
        const table = new Table<string>(RANGE);
        const model = new Map<number, string>();
        for (const [n, [key, isRemoved]] of steps.entries()) {
          const slot = table.find(key);
          expect(slot === undefined ? undefined : table.value(slot)).toBe(model.get(key));
          if (slot === undefined) {
            table.add(key, groupOf(key), n, `value ${String(n)}`);
            model.set(key, `value ${String(n)}`);
          } else if (isRemoved) {
            table.remove(slot);
            model.delete(key);
          }
        }
        const listed = [...table.all()].map((slot) => [table.key(slot), table.value(slot)] as const);
        expect(listed.length).toBe(model.size);
        expect(new Map(listed)).toEqual(model);
        for (const slot of table.all()) {
          expect([table.page(slot).group, table.find(table.key(slot))]).toEqual([groupOf(table.key(slot)), slot]);
        }
      }),
    );
  });

  test('lists the entries of a group page by page, those that were removed as free', () => {
    const table = new Table<number>({ first: 0, last: 1 });
    for (let key = 0; key < 20_000; key++) table.add(key, key % 2, 7, key);
    for (let key = 0; key < 20_000; key += 4) table.remove(table.find(key)!);
    const seen: Key[] = [];
    const entries = table.group(0);
    for (let place = 0; place < entries.length; place++) {
      const { group, keys, stamps } = entries.pageAt(place);
      expect(group).toBe(0);
      if (stamps[offsetOf(place)] !== FREE) seen.push(keys[offsetOf(place)]!);
    }
    expect(seen).toEqual(Array.from({ length: 5000 }, (_, i) => 4 * i + 2));
    expect(table.group(1).length).toBe(10_000);
  });

  test('takes the slots of removed entries again', () => {
    const table = new Table<number>({ first: 0, last: 0 });
    for (let round = 0; round < 3; round++) {
      for (let key = 0; key < 10_000; key++) table.add(`${String(round)}/${String(key)}`, 0, -1, key);
      for (const slot of [...table.all()]) table.remove(slot);
    }
    expect(table.group(0).length).toBe(10_000);
  });
});

describe('an index of keys', () => {
  test('finds every key, also after there are so many that they are spread', () => {
    const index = new KeyIndex();
    const keys = (n: number): (string | number | bigint | boolean)[] => [n, `key ${String(n)}`, BigInt(n)];
    for (let n = 0; n < 20_000; n++) for (const [i, key] of keys(n).entries()) index.set(key, 3 * n + i);
    index.set(true, 7);
    for (let n = 0; n < 20_000; n += 2) for (const key of keys(n)) index.delete(key);
    for (let n = 0; n < 20_000; n++) {
      for (const [i, key] of keys(n).entries()) {
        const expected = n % 2 === 0 ? undefined : 3 * n + i;
        if (index.get(key) !== expected) throw new Error(`${String(key)} is at ${String(index.get(key))}`);
      }
    }
    expect([index.get(true), index.get(false), index.get('')]).toEqual([7, undefined, undefined]);
  });

  test.each([
    ['numbers one after the other', (n: number) => n],
    ['numbers a thousand apart', (n: number) => n * 1000],
    ['large numbers', (n: number) => 2 ** 40 + n],
    ['big integers', (n: number) => BigInt(n) ** 2n],
    ['numbered names', (n: number) => `user-${String(n)}`],
    ['padded names', (n: number) => `user-${String(n).padStart(12, '0')}`],
    ['names with a common end', (n: number) => `${String(n)}@example.com`],
    ['names with a common beginning and end', (n: number) => `user-${String(n)}@example.com`],
    [
      'names of three letters',
      (n: number) => String.fromCharCode(65 + (n % 26), 65 + ((n / 26) % 26), 65 + ((n / 676) % 26)),
    ],
  ])('spreads %s over many segments', (_, key) => {
    const sizes = new Array<number>(SEGMENTS).fill(0);
    for (let n = 0; n < 17_000; n++) sizes[segmentOf(key(n))]!++;
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(SEGMENTS / 4);
    expect(Math.max(...sizes)).toBeLessThan(17_000 / 4);
  });
});
