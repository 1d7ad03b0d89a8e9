import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { disposable, fill, get, keyOf, put, scan } from '../support/database.js';
import { describeRocks, OPTIONS, useDirectory } from '../support/driver.js';
import { batchOf, bytesOf } from '../support/rows.js';

const OPEN = { ...OPTIONS, mode: 'open' } as const;

describeRocks('a RocksDB checkpoint', (driver) => {
  const at = useDirectory();

  test('is a database of its own with everything that was written before, though nothing is logged', async () => {
    const options = { ...OPTIONS, columnFamilies: ['default', 'timers'] };
    using database = disposable(driver.open(at('db'), options));
    put(database, 'a', '1', 0);
    put(database, 'b', '2', 1);
    await database.checkpoint(at('chk'));
    put(database, 'a', 'later', 0);
    using copy = disposable(driver.open(at('chk'), { ...options, mode: 'open' }));
    expect(scan(copy, 0)).toEqual([['a', '1']]);
    expect(scan(copy, 1)).toEqual([['b', '2']]);
    put(copy, 'a', 'its own', 0);
    expect(get(database, 'a')).toBe('later');
  });

  test('shares its table files with the database and with the checkpoint before, by hard links', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    fill(database, 0, 1000, String);
    await database.checkpoint(at('first'));
    fill(database, 1000, 1010, String);
    await database.checkpoint(at('second'));
    const tables = (directory: string): string[] => readdirSync(directory).filter((name) => name.endsWith('.sst'));
    const first = tables(at('first'));
    expect(first).toHaveLength(1);
    expect(tables(at('second'))).toHaveLength(2);
    expect(tables(at('second'))).toEqual(expect.arrayContaining(first));
    const inode = (directory: string): number => statSync(path.join(at(directory), first[0]!)).ino;
    expect([inode('first'), inode('second')]).toEqual([inode('db'), inode('db')]);
  });

  test('holds of the writes made meanwhile the first so many of each family', async () => {
    const options = { ...OPTIONS, columnFamilies: ['default', 'b'] };
    using database = disposable(driver.open(at('db'), options));
    for (let round = 0; round < 20; round++) {
      let written = 0;
      const state = { done: false };
      const checkpoint = database.checkpoint(at(`chk${String(round)}`)).finally(() => (state.done = true));
      while (!state.done) {
        for (let i = 0; i < 100; i++, written++) {
          for (const family of [0, 1]) put(database, keyOf(written), String(round), family);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      await checkpoint;
      using copy = disposable(driver.open(at(`chk${String(round)}`), { ...options, mode: 'open' }));
      for (const family of [0, 1]) {
        const current = scan(copy, family).filter(([, value]) => value === String(round));
        expect(current.map(([key]) => key)).toEqual(current.map((_, n) => keyOf(n)));
        expect(current.length).toBeLessThanOrEqual(written);
      }
    }
  });

  test('fails where its directory exists, and leaves that alone', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    mkdirSync(at('chk'));
    await expect(database.checkpoint(at('chk'))).rejects.toMatchObject({ code: 'ROCKSDB_FAILED' });
    expect(readdirSync(at('chk'))).toEqual([]);
    await expect(database.checkpoint(path.join(at('missing'), 'chk'))).rejects.toMatchObject({
      code: 'ROCKSDB_FAILED',
    });
    put(database, 'a', '1');
    await database.checkpoint(at('good'));
    expect(existsSync(at('good'))).toBe(true);
  });

  test('can be opened to read only, as often as one likes', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'a', '1');
    await database.checkpoint(at('chk'));
    using one = disposable(driver.open(at('chk'), { ...OPTIONS, mode: 'read' }));
    using two = disposable(driver.open(at('chk'), { ...OPTIONS, mode: 'read' }));
    expect([get(one, 'a'), get(two, 'a')]).toEqual(['1', '1']);
    expect(() => put(one, 'a', '2')).toThrow('ROCKSDB_FAILED');
  });

  test('opened, takes a new family and never forgets an old one', async () => {
    const both = ['default', 'b'];
    using database = disposable(driver.open(at('db'), { ...OPTIONS, columnFamilies: both }));
    put(database, 'a', '1', 1);
    await database.checkpoint(at('chk'));
    expect(() => driver.open(at('chk'), OPEN)).toThrow(/ROCKSDB_FAILED: .*families not opened/i);
    using copy = disposable(driver.open(at('chk'), { ...OPEN, columnFamilies: ['default', 'c', 'b'] }));
    expect(get(copy, 'a', 2)).toBe('1');
    expect(get(copy, 'a', 1)).toBeUndefined();
  });
});

describeRocks('a RocksDB flush', (driver) => {
  const at = useDirectory();

  test('is what survives closing, in every family', async () => {
    const options = { ...OPTIONS, columnFamilies: ['default', 'b'] };
    const database = driver.open(at('db'), options);
    put(database, 'a', 'flushed', 0);
    put(database, 'b', 'flushed', 1);
    await database.flush();
    put(database, 'a', 'not flushed', 0);
    database.close();
    using again = disposable(driver.open(at('db'), { ...options, mode: 'open' }));
    expect(get(again, 'a', 0)).toBe('flushed');
    expect(get(again, 'b', 1)).toBe('flushed');
  });

  test('of nothing is done at once', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    await database.flush();
    expect(database.liveFiles()).toEqual([]);
  });
});

describeRocks('a RocksDB compaction', (driver) => {
  const at = useDirectory();

  test('leaves out what was deleted', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    fill(database, 0, 1000, String);
    await database.flush();
    for (let n = 0; n < 999; n++) database.delete(0, bytesOf(keyOf(n)), keyOf(n).length);
    await database.compact(0);
    expect(database.liveFiles().map(({ entries, deletions }) => [entries, deletions])).toEqual([[1, 0]]);
  });
});

describeRocks('a batch that is written on another thread', (driver) => {
  const at = useDirectory();

  test('is there when the promise settles, whole, and as it was when it was handed over', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'gone', '1');
    const batch = batchOf({ op: 'put', key: 'a', value: '1' }, { op: 'delete', key: 'gone' });
    const written = database.writeAside(batch, batch.length);
    batch.fill(0xff);
    await written;
    expect(scan(database)).toEqual([['a', '1']]);
    await database.writeAside(batch, 0);
    expect(scan(database)).toEqual([['a', '1']]);
  });

  test('is in a checkpoint that is asked for afterwards', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    for (let n = 0; n < 20; n++) {
      const batch = batchOf({ op: 'put', key: keyOf(n), value: String(n) });
      await database.writeAside(batch, batch.length);
      await database.checkpoint(at(`chk${String(n)}`));
      using copy = disposable(driver.open(at(`chk${String(n)}`), OPEN));
      expect(scan(copy)).toHaveLength(n + 1);
    }
  });

  test('goes together with others, and with what this thread writes and reads', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    const writes: Promise<void>[] = [];
    for (let n = 0; n < 200; n++) {
      const batch = batchOf({ op: 'put', key: keyOf(n), value: 'aside' });
      writes.push(database.writeAside(batch, batch.length));
      put(database, keyOf(1000 + n), 'here');
      expect(['aside', undefined]).toContain(get(database, keyOf(n)));
    }
    await Promise.all(writes);
    expect(scan(database).map(([, value]) => value)).toEqual([
      ...Array.from({ length: 200 }, () => 'aside'),
      ...Array.from({ length: 200 }, () => 'here'),
    ]);
  });
});
