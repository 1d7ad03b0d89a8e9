import { ByteReader, ByteWriter } from '@weir/core/contracts';
import type { PackedBatch } from './cache/packed-batch.js';
import type { RocksDatabase, RocksIterator, RocksSnapshot } from './driver/rocks-driver.js';
import { littleEndian } from './little-endian.js';
import { behind, endOf } from './row-keys.js';
import type { CurrentKey } from './state/current-key.js';

const FAMILY = 0;
const PAGE_BYTES = 16 * 1024;
const NO_ROOM = new Uint8Array(1);
/** In the place of a length, of a row that is not there. */
const NO_ROW = 0xffffffff;

export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** The rows of one database. */
export class Rows {
  readonly #current: CurrentKey;
  #database: RocksDatabase;
  #value = Buffer.allocUnsafeSlow(4096);
  /** Where the key of {@link get} is written. */
  readonly key: ByteWriter = new ByteWriter(256);
  readonly keys: ByteWriter = new ByteWriter(1024);
  #keyAt = 0;
  #values = Buffer.allocUnsafeSlow(64 * 1024);
  /** Numbers the rows of lists, so that what is appended comes behind what is there without a look at it. */
  sequence = 1;

  constructor(database: RocksDatabase, current: CurrentKey) {
    this.#database = database;
    this.#current = current;
  }

  get database(): RocksDatabase {
    return this.#database;
  }
  /** Goes on with another one; nothing has been read or written yet. */
  replace(database: RocksDatabase): void {
    const before = this.#database;
    // First, so that it is closed with the store whatever happens here.
    this.#database = database;
    before.close();
  }

  /** The value of the row whose key is in {@link key}: bytes of its own. */
  get(): ByteReader | undefined {
    const { key } = this;
    let length = this.#database.getInto(FAMILY, key.view(), key.length, this.#value);
    if (length > this.#value.length) {
      this.#value = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(length)));
      length = this.#database.getInto(FAMILY, key.view(), key.length, this.#value);
    }
    // A copy: a serializer may give values that are views.
    return length < 0 ? undefined : new ByteReader(Uint8Array.prototype.slice.call(this.#value, 0, length));
  }

  /** The values of many rows at once, in the order of their keys, each of which {@link endKey} has ended in {@link keys}. */
  *getMany(): Generator<ByteReader | undefined> {
    const { keys } = this;
    let filled = this.#database.getMany(FAMILY, keys.view(), keys.length, this.#values);
    if (filled < 0) {
      this.#values = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(-filled)));
      filled = this.#database.getMany(FAMILY, keys.view(), keys.length, this.#values);
    }
    for (let at = 0; at < filled;) {
      const length = this.#values.readUInt32LE(at);
      at += 4;
      yield length === NO_ROW
        ? undefined
        : new ByteReader(Uint8Array.prototype.slice.call(this.#values, at, at + length));
      if (length !== NO_ROW) at += length;
    }
  }
  /** Where the next key for {@link getMany} is written; {@link endKey} follows it. */
  beginKey(): ByteWriter {
    this.#keyAt = this.keys.length;
    this.keys.u32(0);
    return this.keys;
  }
  endKey(): void {
    this.keys.patchU32(this.#keyAt, littleEndian(this.keys.length - this.#keyAt - 4));
  }

  /** Applies the batch. After a failure the state is lost: what was to be written is nowhere else. */
  write(batch: PackedBatch): void {
    try {
      this.#database.write(batch.out.view(), batch.length);
    } catch (error) {
      this.#current.break(error as Error);
      throw error;
    }
  }
  /** The same on another thread; the batch can be used again at once. */
  async writeAside(batch: PackedBatch): Promise<void> {
    try {
      await this.#database.writeAside(batch.out.view(), batch.length);
    } catch (error) {
      this.#current.break(error as Error);
      throw error;
    }
  }

  /** The rows that begin with `prefix`, page by page: those that are there when their page is read. */
  *scan(prefix: Uint8Array): Generator<Row> {
    const upper = endOf(prefix);
    for (let lower: Uint8Array | undefined = prefix; lower !== undefined;) {
      const iterator = this.#database.iterate(FAMILY, { lower, upper });
      let page: Uint8Array;
      let isLast: boolean;
      try {
        page = nextPage(iterator, PAGE_BYTES);
        isLast = iterator.next(NO_ROOM) === 0;
      } finally {
        iterator.close();
      }
      let last: Uint8Array | undefined;
      for (const row of rowsOf(page)) {
        last = row.key;
        yield row;
      }
      lower = isLast || last === undefined ? undefined : behind(last);
    }
  }

  /** All rows of a moment. */
  iterate(snapshot: RocksSnapshot): RocksIterator {
    return this.#database.iterate(FAMILY, { snapshot });
  }
}

/** The next rows, in a buffer of their own; empty at the end. */
export function nextPage(iterator: RocksIterator, bytes: number): Uint8Array {
  let page = Buffer.allocUnsafeSlow(bytes);
  let filled = iterator.next(page);
  if (filled < 0) {
    page = Buffer.allocUnsafeSlow(-filled);
    filled = iterator.next(page);
  }
  return page.subarray(0, filled);
}

export function* rowsOf(page: Uint8Array): Generator<Row> {
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  for (let at = 0; at < page.length;) {
    const valueAt = at + 8 + view.getUint32(at, true);
    const end = valueAt + view.getUint32(at + 4, true);
    yield { key: page.subarray(at + 8, valueAt), value: page.subarray(valueAt, end) };
    at = end;
  }
}
