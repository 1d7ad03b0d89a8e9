import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fc } from '@fast-check/vitest';
import { disposable, fill, get, keyOf, put, remove, scan } from '../support/database.js';
import { describeRocks, OPTIONS, useDirectory } from '../support/driver.js';
import { batchOf, bytesOf, keysOf, textOf, valuesIn } from '../support/rows.js';

describeRocks('a RocksDB database', (driver) => {
  const at = useDirectory();

  test('says which RocksDB is behind it', () => {
    expect(driver.libraryVersion).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('gives back what was put, and nothing for what was not or is deleted', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'a', '1');
    put(database, 'b', '2');
    put(database, 'a', '3');
    remove(database, 'b');
    expect(get(database, 'a')).toBe('3');
    expect(get(database, 'b')).toBeUndefined();
    expect(get(database, 'c')).toBeUndefined();
  });

  test('keeps empty keys and empty values', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, '', 'empty key');
    put(database, 'empty value', '');
    expect(get(database, '')).toBe('empty key');
    expect(get(database, 'empty value')).toBe('');
    expect(scan(database)).toEqual([
      ['', 'empty key'],
      ['empty value', ''],
    ]);
  });

  test('says how much room a value needs, and copies nothing into less', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'a', 'hello');
    const small = new Uint8Array(4).fill(7);
    expect(database.getInto(0, bytesOf('a'), 1, small)).toBe(5);
    expect([...small]).toEqual([7, 7, 7, 7]);
    const exact = new Uint8Array(5);
    expect(database.getInto(0, bytesOf('a'), 1, exact)).toBe(5);
    expect(textOf(exact)).toBe('hello');
  });

  test('reads only so much of a buffer as it is told, wherever in memory it lies', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    const shared = bytesOf('..keyvalue..');
    database.put(0, shared.subarray(2), 3, shared.subarray(5), 5);
    expect(scan(database)).toEqual([['key', 'value']]);
  });

  test('looks up many keys at once, in their order', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'a', 'in a file');
    await database.flush();
    put(database, 'b', 'in memory');
    put(database, 'c', '');
    const keys = keysOf('b', 'nowhere', 'a', 'c', 'b');
    const out = new Uint8Array(100);
    const filled = database.getMany(0, keys, keys.length, out);
    expect(valuesIn(out, filled)).toEqual(['in memory', undefined, 'in a file', '', 'in memory']);
    expect(database.getMany(0, keys, keys.length, out.subarray(0, filled - 1))).toBe(-filled);
    expect(database.getMany(0, keys, 0, out)).toBe(0);
  });

  test('applies a batch over several families as one', () => {
    using database = disposable(driver.open(at('db'), { ...OPTIONS, columnFamilies: ['default', 'timers'] }));
    put(database, 'gone', '');
    for (let n = 0; n < 5; n++) put(database, keyOf(n), '', 1);
    const batch = batchOf(
      { op: 'put', key: 'a', value: '1' },
      { op: 'delete', key: 'gone' },
      { op: 'delete-range', family: 1, lower: keyOf(1), upper: keyOf(3) },
      { op: 'put', family: 1, key: keyOf(2), value: 'new' },
      { op: 'delete-range', family: 1, lower: keyOf(4), upper: keyOf(4) },
    );
    database.write(batch, batch.length);
    expect(scan(database, 0)).toEqual([['a', '1']]);
    expect(scan(database, 1)).toEqual([
      [keyOf(0), ''],
      [keyOf(2), 'new'],
      [keyOf(3), ''],
      [keyOf(4), ''],
    ]);
  });

  test('scans between bounds, the lower included and the upper not', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    for (const key of ['a', 'b', 'ba', 'c', '\xff']) put(database, key, key.toUpperCase());
    const keys = (lower?: string, upper?: string): string[] =>
      scan(database, 0, {
        lower: lower === undefined ? undefined : bytesOf(lower),
        upper: upper === undefined ? undefined : bytesOf(upper),
      }).map(([key]) => key);
    expect(keys()).toEqual(['a', 'b', 'ba', 'c', '\xff']);
    expect(keys('b', 'c')).toEqual(['b', 'ba']);
    expect(keys('aa')).toEqual(['b', 'ba', 'c', '\xff']);
    expect(keys(undefined, 'b')).toEqual(['a']);
    expect(keys('d', 'e')).toEqual([]);
    expect(keys('c', 'b')).toEqual([]);
  });

  test('gives rows in pieces that fit, and the room that one row needs', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    fill(database, 0, 100, (n) => 'x'.repeat(n));
    const iterator = database.iterate(0);
    expect(iterator.next(new Uint8Array(17))).toBe(-18);
    expect(iterator.next(new Uint8Array(18))).toBe(18);
    iterator.close();
    for (const room of [117, 200, 1000, 100_000]) {
      const rows = scan(database, 0, {}, room);
      expect(rows).toEqual(Array.from({ length: 100 }, (_, n) => [keyOf(n), 'x'.repeat(n)]));
    }
  });

  test('shows an iterator the moment it began', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'a', 'before');
    const iterator = database.iterate(0);
    put(database, 'a', 'after');
    const out = new Uint8Array(100);
    expect(textOf(out.subarray(0, iterator.next(out)))).toContain('before');
    expect(iterator.next(out)).toBe(0);
    expect(iterator.next(out)).toBe(0);
  });

  test('shows all iterators over a snapshot its moment, in every family, also when it was released meanwhile', async () => {
    using database = disposable(driver.open(at('db'), { ...OPTIONS, columnFamilies: ['default', 'timers'] }));
    put(database, 'a', 'before', 0);
    put(database, 'b', 'before', 1);
    const snapshot = database.snapshot();
    put(database, 'a', 'after', 0);
    remove(database, 'b', 1);
    await database.flush();
    await database.compact(0);
    expect(scan(database, 0, { snapshot })).toEqual([['a', 'before']]);
    const late = database.iterate(1, { snapshot });
    snapshot.release();
    snapshot.release();
    await database.compact(1);
    const out = new Uint8Array(100);
    expect(textOf(out.subarray(0, late.next(out)))).toContain('bbefore');
    expect(scan(database, 0)).toEqual([['a', 'after']]);
  });

  test('drops a range with its files, unless the key at its upper bound is in them', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    fill(database, 0, 1000, String);
    await database.flush();
    await database.compact(0);
    database.dropRange(0, bytesOf(keyOf(0)), bytesOf(keyOf(999)));
    expect(database.liveFiles()).toHaveLength(1);
    expect(scan(database)).toEqual([[keyOf(999), '999']]);
    expect(get(database, keyOf(998))).toBeUndefined();
    database.dropRange(0, bytesOf(keyOf(0)), bytesOf(keyOf(1000)));
    expect(database.liveFiles()).toEqual([]);
    expect(scan(database)).toEqual([]);
  });

  test('drops exactly the keys of a range, whatever its bounds and wherever the keys lie', async () => {
    let round = 0;
    const key = fc.uint8Array({ minLength: 1, maxLength: 3 }).map((bytes) => textOf(bytes));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(key, { maxLength: 30 }),
        key,
        key,
        fc.boolean(),
        async (keys, a, b, compacted) => {
          fc.pre(a !== b);
          const [lower = '', upper = ''] = [a, b].sort(byBytes);
          using database = disposable(driver.open(at(`db${String(round++)}`), OPTIONS));
          for (const key of keys) put(database, key, 'x');
          if (compacted) {
            await database.flush();
            await database.compact(0);
          }
          database.dropRange(0, bytesOf(lower), bytesOf(upper));
          const left = keys.filter((key) => byBytes(key, lower) < 0 || byBytes(key, upper) >= 0);
          expect(scan(database).map(([key]) => key)).toEqual(left.sort(byBytes));
        },
      ),
      { numRuns: 30 },
    );
  });

  test('lists its files with what is in them', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    expect(database.liveFiles()).toEqual([]);
    put(database, 'a', '1');
    put(database, 'b', '2');
    remove(database, 'c');
    await database.flush();
    const [file, ...others] = database.liveFiles();
    expect(others).toEqual([]);
    expect(file).toMatchObject({ level: 0, entries: 3, deletions: 1 });
    expect(readdirSync(at('db'))).toContain(file!.name);
    expect(textOf(file!.smallestKey)).toBe('a');
    expect(textOf(file!.largestKey)).toBe('c');
    expect(file!.bytes).toBeGreaterThan(0);
  });

  test('tells properties and statistics', async () => {
    using database = disposable(
      driver.open(at('db'), { ...OPTIONS, columnFamilies: ['default', 'b'], statistics: true }),
    );
    put(database, 'a', '1', 1);
    expect(database.property('rocksdb.num-entries-active-mem-table', 1)).toBe('1');
    expect(database.property('rocksdb.num-entries-active-mem-table')).toBe('0');
    expect(database.property('rocksdb.nonsense')).toBeUndefined();
    get(database, 'a', 1);
    expect(database.statistics()).toMatch(/rocksdb\.memtable\.hit COUNT : 1/);
    using silent = disposable(driver.open(at('silent'), OPTIONS));
    expect(silent.statistics()).toBeUndefined();
  });
});

/** Compares latin1 strings as RocksDB compares their bytes. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(bytesOf(a), bytesOf(b));
}
