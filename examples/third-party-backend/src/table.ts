import { open, type RootDatabase } from 'lmdb';

export type Database = RootDatabase<Buffer, Buffer>;

export interface TableEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** So many writes are handed to LMDB at once: a transaction for each would cost ten times as much. */
const WRITES_AT_ONCE = 1000;
/** Bytes of address space, not of disk or memory. */
const MAP_SIZE = 16 * 2 ** 30;

/** LMDB with writes collected in front of it, so that reading and writing are as synchronous as a handler needs. */
export class Table {
  readonly #database: Database;
  /** By the bytes of the key as latin1. Without a value: it is to be removed. */
  readonly #writes = new Map<string, { readonly key: Buffer; readonly value: Buffer | undefined }>();

  constructor(path: string) {
    this.#database = open<Buffer, Buffer>({
      path,
      keyEncoding: 'binary',
      encoding: 'binary',
      mapSize: MAP_SIZE,
      // What is here can be made again from a checkpoint, so nothing needs to survive a crash.
      noSync: true,
      cache: false,
    });
  }

  get(key: Buffer): Buffer | undefined {
    const written = this.#writes.size === 0 ? undefined : this.#writes.get(key.toString('latin1'));
    return written === undefined ? this.#database.get(key) : written.value;
  }

  put(key: Buffer, value: Buffer | undefined): void {
    this.#writes.set(key.toString('latin1'), { key, value });
    if (this.#writes.size >= WRITES_AT_ONCE) this.flush();
  }

  /** Entries whose keys begin with `prefix`, in the order of their bytes. */
  *below(prefix: Buffer): Generator<TableEntry, void, undefined> {
    this.flush();
    yield* this.#database.getRange({ start: prefix, end: behind(prefix) });
  }

  /** All entries as they are now, whatever is written later: a reader of LMDB sees the state in which it began. */
  snapshot(): { readonly entries: () => Iterable<TableEntry>; readonly release: () => void } {
    this.flush();
    const transaction = this.#database.useReadTransaction();
    return {
      entries: () => this.#database.getRange({ transaction }),
      release: () => {
        transaction.done();
      },
    };
  }

  flush(): void {
    if (this.#writes.size === 0) return;
    this.#database.transactionSync(() => {
      for (const { key, value } of this.#writes.values()) {
        if (value === undefined) this.#database.removeSync(key);
        else this.#database.putSync(key, value);
      }
    });
    this.#writes.clear();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** The first key that does not begin with `prefix` any more. */
function behind(prefix: Buffer): Buffer {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  const end = Buffer.from(prefix.subarray(0, length));
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}
