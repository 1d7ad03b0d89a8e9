import type { RocksDatabase, RocksRange } from '../../src/driver/rocks-driver.js';
import { bytesOf, rowsIn, textOf } from './rows.js';

/** A database by strings. Characters are bytes (latin1). */
export function put(database: RocksDatabase, key: string, value: string, family = 0): void {
  database.put(family, bytesOf(key), key.length, bytesOf(value), value.length);
}

export function get(database: RocksDatabase, key: string, family = 0): string | undefined {
  const out = new Uint8Array(4096);
  const length = database.getInto(family, bytesOf(key), key.length, out);
  return length < 0 ? undefined : textOf(out.subarray(0, length));
}

export function remove(database: RocksDatabase, key: string, family = 0): void {
  database.delete(family, bytesOf(key), key.length);
}

/** Everything that an iterator gives, in pieces of at most `room` bytes. */
export function scan(database: RocksDatabase, family = 0, range?: RocksRange, room = 4096): [string, string][] {
  const iterator = database.iterate(family, range);
  const out = new Uint8Array(room);
  const rows: [string, string][] = [];
  for (let filled = iterator.next(out); filled > 0; filled = iterator.next(out)) rows.push(...rowsIn(out, filled));
  iterator.close();
  return rows;
}

/** Keys that sort as their numbers do. */
export function keyOf(n: number): string {
  return `key${String(n).padStart(7, '0')}`;
}

export function fill(database: RocksDatabase, from: number, to: number, value: (n: number) => string): void {
  for (let n = from; n < to; n++) put(database, keyOf(n), value(n));
}

/** Closes a database at the end of a test, also of one that fails. */
export function disposable(database: RocksDatabase): RocksDatabase & Disposable {
  return Object.assign(database, {
    [Symbol.dispose]() {
      database.close();
    },
  });
}
