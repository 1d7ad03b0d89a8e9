/** What the addon gives out and takes back. It checks that it is one of its own, and of the right kind. */
export interface DatabaseHandle {
  readonly '~database': unknown;
}
export interface SnapshotHandle {
  readonly '~snapshot': unknown;
}
export interface IteratorHandle {
  readonly '~iterator': unknown;
}

/** Goes up with every change of the functions below; `module.cc` has the same number. */
export const INTERFACE_VERSION = 2;

/** The functions of the addon (native/src/module.cc). Every argument is checked there; what they throw is a {@link NativeError}. */
export interface NativeBinding {
  readonly interfaceVersion: number;
  readonly libraryVersion: string;
  open(
    directory: string,
    mode: number,
    columnFamilies: readonly string[],
    expiringFamilies: readonly number[],
    blockCacheBytes: number,
    writeBufferBytes: number,
    compression: string,
    bloomBitsPerKey: number,
    statistics: boolean,
  ): DatabaseHandle;
  close(database: DatabaseHandle): void;
  setNow(database: DatabaseHandle, ms: number): void;
  getInto(database: DatabaseHandle, family: number, key: Uint8Array, keyLength: number, out: Uint8Array): number;
  getMany(database: DatabaseHandle, family: number, keys: Uint8Array, keysLength: number, out: Uint8Array): number;
  put(
    database: DatabaseHandle,
    family: number,
    key: Uint8Array,
    keyLength: number,
    value: Uint8Array,
    valueLength: number,
  ): void;
  remove(database: DatabaseHandle, family: number, key: Uint8Array, keyLength: number): void;
  write(database: DatabaseHandle, batch: Uint8Array, length: number): void;
  dropRange(database: DatabaseHandle, family: number, lower: Uint8Array, upper: Uint8Array): void;
  takeSnapshot(database: DatabaseHandle): SnapshotHandle;
  releaseSnapshot(snapshot: SnapshotHandle): void;
  iterate(
    database: DatabaseHandle,
    family: number,
    lower: Uint8Array | undefined,
    upper: Uint8Array | undefined,
    snapshot: SnapshotHandle | undefined,
  ): IteratorHandle;
  next(iterator: IteratorHandle, out: Uint8Array): number;
  closeIterator(iterator: IteratorHandle): void;
  writeAside(database: DatabaseHandle, batch: Uint8Array, length: number): Promise<void>;
  flush(database: DatabaseHandle): Promise<void>;
  checkpoint(database: DatabaseHandle, directory: string): Promise<void>;
  compact(database: DatabaseHandle, family: number): Promise<void>;
  liveFiles(database: DatabaseHandle): readonly NativeFile[];
  property(database: DatabaseHandle, name: string, family: number): string | undefined;
  statistics(database: DatabaseHandle): string | undefined;
}

export interface NativeFile {
  readonly name: string;
  readonly level: number;
  readonly bytes: number;
  readonly entries: number;
  readonly deletions: number;
  readonly smallestKey: Uint8Array;
  readonly largestKey: Uint8Array;
}

/** `ARGUMENT` and `CLOSED` are the caller's fault, `ROCKSDB` carries a status of RocksDB, `FAILED` is memory that ran out. */
export interface NativeError extends Error {
  readonly code: 'ARGUMENT' | 'CLOSED' | 'ROCKSDB' | 'FAILED';
}
