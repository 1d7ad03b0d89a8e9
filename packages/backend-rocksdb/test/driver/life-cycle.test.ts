import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { disposable, fill, get, keyOf, put } from '../support/database.js';
import { describeRocks, OPTIONS, useDirectory } from '../support/driver.js';
import { batchOf, bytesOf } from '../support/rows.js';
import type { RocksDatabase } from '../../src/driver/rocks-driver.js';

const BYTES = new Uint8Array(8);
const CLOSED = expect.objectContaining({ code: 'PROTOCOL_VIOLATION', message: expect.stringContaining('closed') });

const synchronous: Record<string, (database: RocksDatabase) => unknown> = {
  getInto: (db) => db.getInto(0, BYTES, 1, BYTES),
  getMany: (db) => db.getMany(0, BYTES, 0, BYTES),
  put: (db) => db.put(0, BYTES, 1, BYTES, 1),
  delete: (db) => db.delete(0, BYTES, 1),
  write: (db) => db.write(BYTES, 0),
  dropRange: (db) => db.dropRange(0, bytesOf('a'), bytesOf('b')),
  snapshot: (db) => db.snapshot(),
  iterate: (db) => db.iterate(0),
  setNow: (db) => db.setNow(1),
  liveFiles: (db) => db.liveFiles(),
  property: (db) => db.property('rocksdb.stats'),
  statistics: (db) => db.statistics(),
};

describeRocks('a closed RocksDB database', (driver) => {
  const at = useDirectory();

  test('refuses everything but to be closed again', async () => {
    const database = driver.open(at('db'), OPTIONS);
    database.close();
    for (const [name, call] of Object.entries(synchronous)) expect(() => call(database), name).toThrow(CLOSED);
    await expect(database.writeAside(BYTES, 0)).rejects.toEqual(CLOSED);
    await expect(database.flush()).rejects.toEqual(CLOSED);
    await expect(database.checkpoint(at('chk'))).rejects.toEqual(CLOSED);
    await expect(database.compact(0)).rejects.toEqual(CLOSED);
    database.close();
  });

  test('has closed its iterators and snapshots, in whatever order they are closed', () => {
    const database = driver.open(at('db'), OPTIONS);
    put(database, 'a', '1');
    const iterators = [database.iterate(0), database.iterate(0), database.iterate(0)];
    const snapshots = [database.snapshot(), database.snapshot()];
    const over = database.iterate(0, { snapshot: snapshots[0] });
    iterators[0]!.close();
    snapshots[1]!.release();
    database.close();
    for (const iterator of [...iterators, over]) {
      expect(() => iterator.next(BYTES)).toThrow(CLOSED);
      iterator.close();
      iterator.close();
    }
    for (const snapshot of snapshots) snapshot.release();
    using again = disposable(driver.open(at('other'), OPTIONS));
    expect(() => again.iterate(0, { snapshot: snapshots[0] })).toThrow(CLOSED);
  });

  test('has finished the checkpoint and the flush that were under way, or never began them', async () => {
    for (let round = 0; round < 10; round++) {
      const database = driver.open(at(`db${String(round)}`), OPTIONS);
      fill(database, 0, 2000, String);
      const tasks = [database.checkpoint(at(`chk${String(round)}`)), database.flush(), database.compact(0)] as const;
      if (round % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
      database.close();
      const [checkpoint] = await Promise.allSettled(tasks);
      expect(existsSync(at(`chk${String(round)}`))).toBe(checkpoint.status === 'fulfilled');
      if (checkpoint.status === 'rejected') {
        expect(checkpoint.reason).toEqual(CLOSED);
      } else {
        using copy = disposable(driver.open(at(`chk${String(round)}`), { ...OPTIONS, mode: 'open' }));
        expect(get(copy, 'key0001999')).toBe('1999');
      }
    }
  });

  test('has finished the write that was under way, or never began it', async () => {
    const rows = batchOf(
      ...Array.from({ length: 5000 }, (_, n) => ({ op: 'put' as const, key: keyOf(n), value: 'x' })),
    );
    for (let round = 0; round < 10; round++) {
      const database = driver.open(at(`db${String(round)}`), OPTIONS);
      const write = database.writeAside(rows, rows.length);
      if (round % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
      database.close();
      const [settled] = await Promise.allSettled([write]);
      if (settled.status === 'rejected') expect(settled.reason).toEqual(CLOSED);
    }
  });

  test('does not wait for a compaction to come to its end', async () => {
    const database = driver.open(at('db'), OPTIONS);
    for (let i = 0; i < 5; i++) {
      fill(database, 0, 20_000, (n) => String(n * i).repeat(10));
      await database.flush();
    }
    const compaction = database.compact(0).then(
      () => 'came to its end before',
      (error: unknown) => error,
    );
    await new Promise((resolve) => setImmediate(resolve));
    database.close();
    expect(['came to its end before', CLOSED]).toContainEqual(await compaction);
    using again = disposable(driver.open(at('db'), { ...OPTIONS, mode: 'open' }));
    expect(get(again, 'key0019999')).toBe('79996'.repeat(10));
  });
});

describeRocks('an iterator that nobody closed', (driver) => {
  const at = useDirectory();

  test('goes on while it is held, and ends with the database', () => {
    const database = driver.open(at('db'), OPTIONS);
    put(database, 'a', '1');
    const iterator = database.iterate(0);
    put(database, 'b', '1');
    expect(iterator.next(new Uint8Array(100))).toBe(10);
    iterator.close();
    expect(() => iterator.next(BYTES)).toThrow(CLOSED);
    database.close();
  });
});
