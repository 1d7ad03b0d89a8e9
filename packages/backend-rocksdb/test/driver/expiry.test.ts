import { expect, test } from 'vitest';
import { disposable, get, put } from '../support/database.js';
import { describeRocks, OPTIONS, useDirectory } from '../support/driver.js';
import type { RocksDatabase } from '../../src/driver/rocks-driver.js';

/** A value that expires at a moment. */
function until(ms: number, value = 'x'): string {
  const head = Buffer.alloc(8);
  head.writeDoubleLE(ms);
  return head.toString('latin1') + value;
}

describeRocks('an expiring family', (driver) => {
  const at = useDirectory();
  const options = { ...OPTIONS, columnFamilies: ['default', 'ttl'], expiringFamilies: [1] };
  const KEYS = ['at 100', 'at 101', 'never', 'no number', 'too short'];

  async function rewrite(database: RocksDatabase, family: number): Promise<(string | undefined)[]> {
    await database.flush();
    await database.compact(family);
    return KEYS.filter((key) => get(database, key, family) !== undefined);
  }

  function putAll(database: RocksDatabase, family: number): void {
    put(database, 'at 100', until(100), family);
    put(database, 'at 101', until(101), family);
    put(database, 'never', until(Infinity), family);
    put(database, 'no number', until(NaN), family);
    put(database, 'too short', '\0\0\0\0\0\0\0', family);
  }

  test('loses what has expired by the clock, and only when it is rewritten', async () => {
    using database = disposable(driver.open(at('db'), options));
    putAll(database, 1);
    database.setNow(100);
    expect(get(database, 'at 100', 1)).toBe(until(100));
    expect(await rewrite(database, 1)).toEqual(['at 101', 'never', 'no number', 'too short']);
    database.setNow(1e15);
    expect(await rewrite(database, 1)).toEqual(['never', 'no number', 'too short']);
  });

  test('loses nothing before the clock is set', async () => {
    using database = disposable(driver.open(at('db'), options));
    putAll(database, 1);
    expect(await rewrite(database, 1)).toEqual(KEYS);
  });

  test('does not make others expire', async () => {
    using database = disposable(driver.open(at('db'), options));
    putAll(database, 0);
    database.setNow(1e15);
    expect(await rewrite(database, 0)).toEqual(KEYS);
  });

  test('has a clock of its own in each database', async () => {
    using one = disposable(driver.open(at('one'), options));
    using two = disposable(driver.open(at('two'), options));
    putAll(one, 1);
    putAll(two, 1);
    one.setNow(1e15);
    two.setNow(0);
    expect(await rewrite(one, 1)).toEqual(['never', 'no number', 'too short']);
    expect(await rewrite(two, 1)).toEqual(KEYS);
  });
});
