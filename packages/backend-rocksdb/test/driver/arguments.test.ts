import { expect, test } from 'vitest';
import { disposable, get, put, scan } from '../support/database.js';
import { describeRocks, OPTIONS, useDirectory } from '../support/driver.js';
import { batchOf, bytesOf, keysOf } from '../support/rows.js';
import type { RocksDatabase, RocksOptions } from '../../src/driver/rocks-driver.js';

const BYTES = new Uint8Array(8);
/** What TypeScript would not let through. */
const wrong = (value: unknown): never => value as never;
const NOT_BYTES: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 8],
  ['a string', 'bytes'],
  ['an object', {}],
  ['an array', [1, 2]],
  ['wider elements', new Uint16Array(8)],
  ['a view', new DataView(new ArrayBuffer(8))],
];
const NOT_LENGTHS = [-1, 0.5, NaN, Infinity, 9, 2 ** 32, '1', undefined, null];
const NOT_FAMILIES = [-1, 1, 0.5, NaN, 256, 2 ** 53, '0', undefined];

type Attempt = readonly [what: string, call: (database: RocksDatabase) => unknown];

const attempts: readonly Attempt[] = [
  ...NOT_FAMILIES.flatMap((family): Attempt[] => [
    [`get from family ${String(family)}`, (db) => db.getInto(wrong(family), BYTES, 1, BYTES)],
    [`get many from family ${String(family)}`, (db) => db.getMany(wrong(family), BYTES, 0, BYTES)],
    [`put into family ${String(family)}`, (db) => db.put(wrong(family), BYTES, 1, BYTES, 1)],
    [`delete from family ${String(family)}`, (db) => db.delete(wrong(family), BYTES, 1)],
    [`iterate over family ${String(family)}`, (db) => db.iterate(wrong(family))],
    [`drop from family ${String(family)}`, (db) => db.dropRange(wrong(family), bytesOf('a'), bytesOf('b'))],
  ]),
  ...NOT_BYTES.flatMap(([name, bytes]): Attempt[] => [
    [`get with key ${name}`, (db) => db.getInto(0, wrong(bytes), 1, BYTES)],
    [`get into ${name}`, (db) => db.getInto(0, BYTES, 1, wrong(bytes))],
    [`get many with keys ${name}`, (db) => db.getMany(0, wrong(bytes), 1, BYTES)],
    [`get many into ${name}`, (db) => db.getMany(0, BYTES, 0, wrong(bytes))],
    [`put key ${name}`, (db) => db.put(0, wrong(bytes), 1, BYTES, 1)],
    [`put value ${name}`, (db) => db.put(0, BYTES, 1, wrong(bytes), 1)],
    [`delete key ${name}`, (db) => db.delete(0, wrong(bytes), 1)],
    [`write ${name}`, (db) => db.write(wrong(bytes), 1)],
    [`drop from ${name}`, (db) => db.dropRange(0, wrong(bytes), BYTES)],
    [`drop up to ${name}`, (db) => db.dropRange(0, BYTES, wrong(bytes))],
    [`next into ${name}`, (db) => db.iterate(0).next(wrong(bytes))],
  ]),
  ...NOT_BYTES.slice(1).flatMap(([name, bytes]): Attempt[] => [
    [`iterate from ${name}`, (db) => db.iterate(0, { lower: wrong(bytes) })],
    [`iterate up to ${name}`, (db) => db.iterate(0, { upper: wrong(bytes) })],
  ]),
  ...NOT_LENGTHS.flatMap((length): Attempt[] => [
    [`get with key length ${String(length)}`, (db) => db.getInto(0, BYTES, wrong(length), BYTES)],
    [`get many with keys length ${String(length)}`, (db) => db.getMany(0, BYTES, wrong(length), BYTES)],
    [`put key length ${String(length)}`, (db) => db.put(0, BYTES, wrong(length), BYTES, 1)],
    [`put value length ${String(length)}`, (db) => db.put(0, BYTES, 1, BYTES, wrong(length))],
    [`delete key length ${String(length)}`, (db) => db.delete(0, BYTES, wrong(length))],
    [`write length ${String(length)}`, (db) => db.write(BYTES, wrong(length))],
  ]),
  ['drop an empty range', (db) => db.dropRange(0, bytesOf('a'), bytesOf('a'))],
  ['drop a range backwards', (db) => db.dropRange(0, bytesOf('b'), bytesOf('a'))],
  ['drop up to nothing', (db) => db.dropRange(0, bytesOf(''), bytesOf(''))],
  ['set the clock to NaN', (db) => db.setNow(NaN)],
  ['set the clock to a string', (db) => db.setNow(wrong('1'))],
  ['property without a name', (db) => db.property(wrong(undefined))],
  ['property with a zero in its name', (db) => db.property('rocksdb\0')],
  ['property of no family', (db) => db.property('rocksdb.stats', 1)],
  ['iterate over something that is no snapshot', (db) => db.iterate(0, { snapshot: wrong({}) })],
  ['many keys that end inside of a length', (db) => db.getMany(0, keysOf('a'), 3, BYTES)],
  ['many keys that end inside of a key', (db) => db.getMany(0, keysOf('abc'), 6, BYTES)],
];

describeRocks('nonsense', (driver) => {
  const at = useDirectory();

  test('is refused as the mistake it is, and the database goes on', () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'a', '1');
    for (const [what, call] of attempts) {
      expect(() => call(database), what).toThrow(expect.objectContaining({ code: 'PROTOCOL_VIOLATION' }));
    }
    expect(scan(database)).toEqual([['a', '1']]);
  });

  test('in a batch keeps all of it from being applied', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    const good = batchOf({ op: 'put', key: 'a', value: '1' });
    const bad: Record<string, Uint8Array> = {
      'no operation': patched(good, 0, 0),
      'an unknown operation': patched(good, 0, 4),
      'a family that is not there': patched(good, 1, 1),
      'a key beyond the end': patched(good, 2, 3),
      'a key far beyond the end': patched(good, 5, 0xff),
      'a value beyond the end': patched(good, 6, 2),
      'a value far beyond the end': patched(good, 9, 0xff),
      'half a head': good.subarray(0, 9),
      'a deletion with a value': patched(good, 0, 2),
      'a range backwards': batchOf({ op: 'delete-range', lower: 'b', upper: 'a' }),
    };
    for (const [what, row] of Object.entries(bad)) {
      const batch = Buffer.concat([good, row]);
      expect(() => database.write(batch, batch.length), what).toThrow(
        expect.objectContaining({ code: 'PROTOCOL_VIOLATION' }),
      );
      await expect(database.writeAside(batch, batch.length), what).rejects.toMatchObject({
        code: 'PROTOCOL_VIOLATION',
      });
      await expect(database.writeAside(batch, batch.length + 1), what).rejects.toMatchObject({
        code: 'PROTOCOL_VIOLATION',
      });
      expect(get(database, 'a'), what).toBeUndefined();
    }
    database.write(good, 0);
    expect(get(database, 'a')).toBeUndefined();
    database.write(good, good.length);
    expect(get(database, 'a')).toBe('1');
  });

  test('in options is refused before anything is made', () => {
    const bad: Record<string, Partial<Record<keyof RocksOptions, unknown>>> = {
      'no mode': { mode: undefined },
      'an unknown mode': { mode: 'append' },
      'no families': { columnFamilies: [] },
      'families without the default': { columnFamilies: ['a'] },
      'a family twice': { columnFamilies: ['default', 'a', 'a'] },
      'too many families': { columnFamilies: ['default', ...Array.from({ length: 256 }, (_, i) => String(i))] },
      'a family that is no string': { columnFamilies: ['default', 1] },
      'families that are no array': { columnFamilies: 'default' },
      'an expiring family that is not there': { expiringFamilies: [1] },
      'an expiring family that is no number': { expiringFamilies: ['0'] },
      'a negative cache': { blockCacheBytes: -1 },
      'a write buffer that is no number': { writeBufferBytes: '1' },
      'an unknown compression': { compression: 'zstd' },
      'half a bit': { bloomBitsPerKey: 0.5 },
      'statistics that are no boolean': { statistics: 1 },
    };
    for (const [what, options] of Object.entries(bad)) {
      const open = (): unknown => driver.open(at('db'), wrong({ ...OPTIONS, ...options }));
      expect(open, what).toThrow(expect.objectContaining({ code: 'PROTOCOL_VIOLATION' }));
    }
    expect(() => driver.open(wrong(undefined), OPTIONS)).toThrow('PROTOCOL_VIOLATION');
    expect(() => driver.open(at('db\0'), OPTIONS)).toThrow('PROTOCOL_VIOLATION');
    driver.open(at('db'), OPTIONS).close();
  });

  test('as a snapshot or iterator of another database is refused', () => {
    using one = disposable(driver.open(at('one'), OPTIONS));
    using two = disposable(driver.open(at('two'), OPTIONS));
    expect(() => one.iterate(0, { snapshot: two.snapshot() })).toThrow('PROTOCOL_VIOLATION');
  });

  test('as a directory of a checkpoint rejects', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    await expect(database.checkpoint(wrong(undefined))).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
    await expect(database.compact(1)).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
  });
});

describeRocks('a RocksDB directory', (driver) => {
  const at = useDirectory();

  test('that must be new is not taken from another database', () => {
    driver.open(at('db'), OPTIONS).close();
    expect(() => driver.open(at('db'), OPTIONS)).toThrow(expect.objectContaining({ code: 'ROCKSDB_FAILED' }));
  });

  test('that must hold a database is not filled with a new one', () => {
    for (const mode of ['open', 'read'] as const) {
      expect(() => driver.open(at('db'), { ...OPTIONS, mode })).toThrow(
        expect.objectContaining({ code: 'ROCKSDB_FAILED', message: expect.stringContaining(at('db')) }),
      );
    }
  });

  test('is open once only, and free again after closing', () => {
    const database = driver.open(at('db'), OPTIONS);
    expect(() => driver.open(at('db'), { ...OPTIONS, mode: 'open' })).toThrow(/ROCKSDB_FAILED: .*lock/i);
    database.close();
    driver.open(at('db'), { ...OPTIONS, mode: 'open' }).close();
  });
});

function patched(bytes: Uint8Array, at: number, byte: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = byte;
  return copy;
}
