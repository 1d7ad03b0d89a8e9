import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Key } from '@weir/core/contracts';
import { emptyContents } from './contents.js';
import type { Check } from './fixture.js';

/** Keys that are easily taken for one another. */
export const KEYS: readonly Key[] = [
  'a',
  'A',
  '',
  '1',
  1,
  1n,
  0,
  '0',
  -1,
  0.5,
  2 ** 40,
  true,
  'true',
  false,
  'ä',
  '€😀',
  [1, 2],
  ['1', 2],
  [[1], 2],
  [],
  'x'.repeat(300),
];

/** What gets lost where somebody tests for truth, or thinks that everything is JSON. */
export const VALUES: readonly unknown[] = [
  false,
  0,
  -0,
  '',
  null,
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  10n,
  'text',
  1.5,
  true,
  [],
  {},
  [1, [2, { three: 3 }]],
  { a: undefined, b: null, c: '' },
  new Date(86_400_000),
  new Map<unknown, unknown>([[1, new Set(['a', 2])]]),
  Uint8Array.of(1, 2, 3),
];

/** Value states. */
export function valueChecks(check: Check): void {
  check('gives what initial makes, anew each time, or undefined while nothing is stored', async (stores) => {
    for (const key of KEYS) {
      assert.equal(stores.at(key).count.value(), 0);
      assert.equal(stores.at(key).last.value(), undefined);
    }
    await stores.carryOver();
    assert.equal(stores.at('a').count.value(), 0);
    stores.at('a').last.clear();
    assert.deepStrictEqual(stores.contents, emptyContents(), 'reading stores nothing');
  });

  check('keeps the values of keys apart, however alike they look', async (stores) => {
    for (const [i, key] of KEYS.entries()) {
      stores.at(key).count.update(i);
      stores.at(key).last.update({ i });
    }
    await stores.carryOver();
    for (const [i, key] of KEYS.entries()) {
      assert.equal(stores.at(key).count.value(), i, `the count of ${inspect(key)}`);
      assert.deepStrictEqual(stores.at(key).last.value(), { i }, `the last of ${inspect(key)}`);
    }
  });

  check('takes -0 for 0, also inside an array', async (stores) => {
    stores.at(-0).count.update(5);
    stores.at([1, -0]).count.update(6);
    assert.equal(stores.at(0).count.value(), 5);
    assert.equal(stores.at([1, 0]).count.value(), 6);
    assert.deepStrictEqual([...stores.contents.count.keys()].sort(), ['0', '[ 1, 0 ]']);
    await stores.carryOver();
    assert.equal(stores.at(-0).count.value(), 5);
  });

  check('does not look at an array again that was a key', async (stores) => {
    const key = ['a', 1];
    stores.at(key).count.update(5);
    stores.at(key).index.set(key, 6);
    key[1] = 2;
    assert.equal(stores.at(['a', 1]).count.value(), 5);
    assert.deepStrictEqual(await stores.photograph().develop(), stores.contents);
    await stores.carryOver();
    assert.equal(stores.at(['a', 1]).count.value(), 5);
    assert.equal(stores.at(['a', 1]).index.get(['a', 1]), 6);
    assert.equal(stores.at(['a', 2]).count.value(), 0);
  });

  check('gives every value back as it was, the falsy ones too', async (stores) => {
    for (const [i, value] of VALUES.entries()) {
      stores.at(i).count.update(value);
      stores.at(i).last.update(value);
    }
    const same = (): void => {
      for (const [i, value] of VALUES.entries()) {
        assert.deepStrictEqual(stores.at(i).count.value(), value, `count ${inspect(value)}`);
        assert.deepStrictEqual(stores.at(i).last.value(), value, `last ${inspect(value)}`);
      }
    };
    same();
    await stores.carryOver();
    same();
  });

  check('forgets what is cleared, and can store again', async (stores) => {
    stores.at('a').count.update(5);
    stores.at('b').count.update(6);
    await stores.carryOver();
    const { count } = stores.at('a');
    count.clear();
    assert.equal(count.value(), 0);
    count.clear();
    assert.deepStrictEqual([...stores.contents.count], [["'b'", 6]]);
    count.update(7);
    assert.equal(count.value(), 7);
    await stores.carryOver();
    assert.equal(stores.at('a').count.value(), 7);
    assert.equal(stores.at('b').count.value(), 6);
  });

  check('works on the present key with handles that stay the same', (stores) => {
    const store = stores.storeOf('a');
    const other = KEYS.find((key) => key !== 'a' && stores.storeOf(key) === store)!;
    const { count } = stores.at('a');
    assert.equal(store.handle('count'), count);
    count.update(1);
    store.setCurrentKey(other);
    assert.equal(count.value(), 0);
    count.update(2);
    store.setCurrentKey('a');
    assert.equal(count.value(), 1);
    count.clear();
    store.setCurrentKey(other);
    assert.equal(count.value(), 2);
    store.setCurrentKey('a');
    assert.equal(count.value(), 0);
    assert.equal(store.handle('count'), count);
  });

  check('gives the same object until it is written, where it promises that', (stores) => {
    if (!stores.backend.capabilities.keepsIdentity) return;
    const { last, index } = stores.at('a');
    last.update({ n: 1 });
    index.set('k', { n: 1 });
    (last.value() as { n: number }).n = 2;
    (index.get('k') as { n: number }).n = 2;
    assert.deepStrictEqual(stores.at('a').last.value(), { n: 2 });
    assert.deepStrictEqual(stores.at('a').index.get('k'), { n: 2 });
  });

  check('knows which object a value state holds for the current key, where it says that', (stores) => {
    const { last } = stores.at('a');
    if (last.holds === undefined) return;
    const [one, other] = [{ n: 1 }, { n: 1 }];
    assert.equal(last.holds(one), false, 'before anything is stored');
    last.update(one);
    const stored = last.value() as object;
    assert.equal(last.holds(stored), true, 'what it has given out');
    assert.equal(last.holds(one), stored === one, 'what it was given');
    assert.equal(last.holds(other), false, 'an equal object');
    // Of another store, where the two keys are in different ones.
    const { last: lastOfB } = stores.at('b');
    assert.equal(lastOfB.holds?.(stored), false, "another key's");
    lastOfB.update(other);
    lastOfB.update({ n: 2 });
    assert.equal(lastOfB.holds(other), false, 'what it held before');
    stores.at('a');
    assert.equal(last.holds(last.value() as object), true, 'when the key has come again');
    last.clear();
    assert.equal(last.holds(stored), false, 'what was cleared');
  });
}
