import assert from 'node:assert/strict';
import type { Key } from '@weir/core/contracts';
import { emptyContents } from './contents.js';
import { failsWith, type Check } from './fixture.js';
import { KEYS, VALUES } from './values.js';

/** List states. */
export function listChecks(check: Check): void {
  check('gives the elements of a list in the order in which they were added', async (stores) => {
    const added = ['b', 'a', 'b', 3];
    for (const value of added) for (const key of KEYS) stores.at(key).items.add(value);
    for (const key of KEYS) assert.deepStrictEqual([...stores.at(key).items.values()], added);
    await stores.carryOver();
    for (const key of KEYS) {
      stores.at(key).items.add('last');
      assert.deepStrictEqual([...stores.at(key).items.values()], [...added, 'last']);
    }
  });

  check('gives every element of a list back as it was, the falsy ones too', async (stores) => {
    for (const value of VALUES) stores.at('a').items.add(value);
    assert.deepStrictEqual([...stores.at('a').items.values()], VALUES);
    await stores.carryOver();
    assert.deepStrictEqual([...stores.at('a').items.values()], VALUES);
  });

  check('has an empty list where nothing was added or all was cleared', async (stores) => {
    assert.deepStrictEqual([...stores.at('a').items.values()], []);
    stores.at('a').items.clear();
    stores.at('a').items.add(1);
    await stores.carryOver();
    stores.at('a').items.clear();
    assert.deepStrictEqual([...stores.at('a').items.values()], []);
    assert.deepStrictEqual(stores.contents, emptyContents(), 'an empty list is not stored');
    stores.at('a').items.add(2);
    await stores.carryOver();
    assert.deepStrictEqual([...stores.at('a').items.values()], [2]);
  });

  check('keeps a long list whole', async (stores) => {
    const long = Array.from({ length: 5000 }, (_, i) => ({ i }));
    for (const value of long) stores.at('a').items.add(value);
    await stores.carryOver();
    assert.deepStrictEqual([...stores.at('a').items.values()], long);
  });
}

/** Map states. */
export function mapChecks(check: Check): void {
  check('keeps the entries of maps apart, by key and by key in the map', async (stores) => {
    for (const [i, key] of KEYS.entries()) {
      for (const [j, mapKey] of KEYS.entries()) stores.at(key).index.set(mapKey, [i, j]);
    }
    const same = (): void => {
      for (const [i, key] of KEYS.entries()) {
        for (const [j, mapKey] of KEYS.entries()) {
          assert.deepStrictEqual(stores.at(key).index.get(mapKey), [i, j]);
        }
        assert.equal([...stores.at(key).index.entries()].length, KEYS.length);
      }
    };
    same();
    await stores.carryOver();
    same();
  });

  check('gives every value of a map back as it was, the falsy ones too', async (stores) => {
    for (const [i, value] of VALUES.entries()) stores.at('a').index.set(i, value);
    await stores.carryOver();
    for (const [i, value] of VALUES.entries()) assert.deepStrictEqual(stores.at('a').index.get(i), value);
    assert.deepStrictEqual(new Map(stores.at('a').index.entries()), new Map<Key, unknown>(VALUES.entries()));
  });

  check('forgets entries that are deleted, and maps that are cleared or empty', async (stores) => {
    const { index } = stores.at('a');
    assert.deepStrictEqual([...index.entries()], []);
    assert.equal(index.get('k'), undefined);
    index.delete('k');
    index.clear();
    for (const mapKey of ['k', 'l', 'm']) index.set(mapKey, mapKey);
    await stores.carryOver();
    stores.at('a').index.delete('k');
    stores.at('a').index.delete('k');
    assert.equal(stores.at('a').index.get('k'), undefined);
    assert.deepStrictEqual(new Map(stores.at('a').index.entries()), new Map([['l', 'l'], ['m', 'm']])); // prettier-ignore
    stores.at('a').index.delete('l');
    stores.at('a').index.delete('m');
    assert.deepStrictEqual(stores.contents, emptyContents(), 'a map without entries is not stored');
    stores.at('a').index.set('n', 1);
    await stores.carryOver();
    stores.at('a').index.clear();
    assert.deepStrictEqual([...stores.at('a').index.entries()], []);
    assert.deepStrictEqual(stores.contents, emptyContents(), 'a cleared map is not stored');
    stores.at('a').index.set('o', 2);
    assert.deepStrictEqual([...stores.at('a').index.entries()], [['o', 2]]);
  });

  check('refuses what cannot be a key of a map', async (stores) => {
    const { index } = stores.at('a');
    for (const mapKey of [Number.NaN, undefined, null, {}, '\ud800', [Number.NaN]]) {
      await failsWith('KEY_INVALID', () => index.set(mapKey as Key, 1));
    }
    assert.deepStrictEqual(stores.contents, emptyContents());
    index.set(-0, 1);
    assert.deepStrictEqual([...index.entries()], [[0, 1]]);
  });

  check('keeps a large map whole', async (stores) => {
    for (let i = 0; i < 5000; i++) stores.at('a').index.set(`k${String(i)}`, { i });
    await stores.carryOver();
    assert.equal([...stores.at('a').index.entries()].length, 5000);
    for (let i = 0; i < 5000; i++) assert.deepStrictEqual(stores.at('a').index.get(`k${String(i)}`), { i });
  });
}
