/**
 * What weir needs of RocksDB, and no more. A handle belongs to the thread that opened it. Wrong arguments and use after close are a
 * `WeirError` (`PROTOCOL_VIOLATION`); what RocksDB itself reports is one too (`ROCKSDB_FAILED`, with RocksDB's status in the message).
 */
export interface RocksDriver {
  /** Of the RocksDB behind it, such as `7.8.3`. */
  readonly libraryVersion: string;
  /** Opens the database in a directory. Synchronous: tens of milliseconds, also for a large one. */
  open(directory: string, options: RocksOptions): RocksDatabase;
}

/**
 * How a database is opened. What decides whether another build of RocksDB can read its files is no option but pinned by the driver: table
 * format 5, CRC32c. The write-ahead log is always off, as in Flink: a checkpoint flushes, and what was not flushed is gone with the process.
 */
export interface RocksOptions {
  /**
   * `create`: the directory is new; a database in it is an error. `open`: it holds one, such as a copy of a checkpoint. `read`: the same,
   * and nothing is written to it.
   */
  readonly mode: 'create' | 'open' | 'read';
  /**
   * The column families, by which methods mean the position in this list: all that the database has, `default` (which every database has)
   * first, at most 256. `open` adds those that the database does not have.
   */
  readonly columnFamilies: readonly string[];
  /** Positions of the families whose values begin with the moment they expire; see {@link RocksDatabase.setNow}. */
  readonly expiringFamilies?: readonly number[];
  /** For blocks of data, of all families. Index and Bloom filter of each file are in memory on top, about 2 bytes per key with 10 bits. */
  readonly blockCacheBytes: number;
  /** A family's writes are collected up to this size, then flushed. At most three such buffers per family are in memory. */
  readonly writeBufferBytes: number;
  readonly compression: 'snappy' | 'none';
  /** Of the Bloom filter over whole keys; 0 for none. With 10, one miss in a hundred reads a block. */
  readonly bloomBitsPerKey: number;
  /** Counts what RocksDB does, for {@link RocksDatabase.statistics}; costs several per cent. Default false. */
  readonly statistics?: boolean;
}

/** Keys are ordered as unsigned bytes. Every buffer is read or filled before the method returns, and not kept. */
export interface RocksDatabase {
  /**
   * Copies the value of a key into `out` and gives its length, or -1 if there is none. A length beyond `out.length` says that nothing was
   * copied: come again with more room.
   */
  getInto(family: number, key: Uint8Array, keyLength: number, out: Uint8Array): number;
  /**
   * Looks up many keys of a family at once: rows `[u32 length][key]` in, and out, in the same order, rows `[u32 length][value]`, the length
   * 0xffffffff standing for a key that is not there. Gives the bytes filled, or, if they would not fit, the bytes needed as a negative number.
   */
  getMany(family: number, keys: Uint8Array, keysLength: number, out: Uint8Array): number;
  put(family: number, key: Uint8Array, keyLength: number, value: Uint8Array, valueLength: number): void;
  delete(family: number, key: Uint8Array, keyLength: number): void;
  /**
   * Applies rows `[u8 op][u8 family][u32 keyLength][u32 valueLength][key][value]` as one: op 1 puts, 2 deletes (no value), 3 deletes the
   * range from `key` up to, not including, `value`. Malformed rows are refused before anything is applied.
   */
  write(batch: Uint8Array, length: number): void;
  /** {@link write} on another thread: before the promise settles, reads may find the rows or not. The batch is the caller's again at once. */
  writeAside(batch: Uint8Array, length: number): Promise<void>;
  /**
   * Deletes a large range, lower bound included, upper not: whole files first, at once and without being rewritten, then the rest. Open
   * iterators still see it, snapshots may not.
   */
  dropRange(family: number, lower: Uint8Array, upper: Uint8Array): void;
  /** A view of this moment for any number of iterators, over all families. Keeps what they may read from being cleaned up until it is released. */
  snapshot(): RocksSnapshot;
  /** From `lower`, included, up to `upper`, not included; an absent bound is none. Without a snapshot it sees this moment. */
  iterate(family: number, range?: RocksRange): RocksIterator;
  /** Writes all that is in memory to files, on another thread. */
  flush(): Promise<void>;
  /**
   * Flushes, then makes a directory that is a database of its own, of hard links where the file system can: on another thread. It must not
   * exist and lie on the same file system. Holds every write made before the call; of those made meanwhile, the first so many of each family.
   */
  checkpoint(directory: string): Promise<void>;
  /** Rewrites the files of a family, on another thread, leaving out what is deleted or expired. */
  compact(family: number): Promise<void>;
  /**
   * The clock of the clean-up, in milliseconds. In an expiring family a value begins with the moment it expires: a float64, little endian,
   * Infinity for never. What has expired by the clock is left out when files are rewritten, in RocksDB's own time, and is found until then.
   * Until the clock is set, nothing expires.
   */
  setNow(ms: number): void;
  liveFiles(): readonly RocksFile[];
  /** A property of RocksDB such as `rocksdb.estimate-num-keys`, of one family; undefined for one that it does not know. */
  property(name: string, family?: number): string | undefined;
  /** RocksDB's own report; undefined unless asked for in the options. */
  statistics(): string | undefined;
  /**
   * Closes it with its iterators and snapshots. Waits for a write, checkpoint or flush that has begun; one that has not is rejected, and so is a
   * compaction, which is broken off. What was not flushed is given up. Closing again does nothing.
   */
  close(): void;
}

export interface RocksRange {
  readonly lower?: Uint8Array | undefined;
  readonly upper?: Uint8Array | undefined;
  readonly snapshot?: RocksSnapshot | undefined;
}

export interface RocksSnapshot {
  /** Iterators over it that are open go on. Releasing again does nothing. */
  release(): void;
}

export interface RocksIterator {
  /**
   * Fills `out` with whole rows `[u32 keyLength][u32 valueLength][key][value]` and gives the bytes filled; 0 at the end. A negative number
   * says that the next row alone needs so many bytes: come again with more room.
   */
  next(out: Uint8Array): number;
  /** Closing again does nothing. */
  close(): void;
}

/** One SST file. */
export interface RocksFile {
  /** In the directory of the database, such as `000012.sst`. */
  readonly name: string;
  readonly level: number;
  readonly bytes: number;
  readonly entries: number;
  readonly deletions: number;
  readonly smallestKey: Uint8Array;
  readonly largestKey: Uint8Array;
}
