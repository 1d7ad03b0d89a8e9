import { driverError } from './driver-error.js';
import type { DatabaseHandle, IteratorHandle, NativeBinding, SnapshotHandle } from './native-binding.js';
import type {
  RocksDatabase,
  RocksFile,
  RocksIterator,
  RocksOptions,
  RocksRange,
  RocksSnapshot,
} from './rocks-driver.js';

/** In the order of `Mode` in options.h. */
const MODES: readonly RocksOptions['mode'][] = ['create', 'open', 'read'];

/** A database behind the addon. The addon checks arguments and life cycle; here its errors get their names. */
export class NativeDatabase implements RocksDatabase {
  readonly #native: NativeBinding;
  readonly #directory: string;
  readonly #handle: DatabaseHandle;

  constructor(native: NativeBinding, directory: string, options: RocksOptions) {
    this.#native = native;
    this.#directory = directory;
    try {
      this.#handle = native.open(
        directory,
        MODES.indexOf(options.mode),
        options.columnFamilies,
        options.expiringFamilies ?? [],
        options.blockCacheBytes,
        options.writeBufferBytes,
        options.compression,
        options.bloomBitsPerKey,
        options.statistics ?? false,
      );
    } catch (error) {
      throw this.#named(error, 'open');
    }
  }

  getInto(family: number, key: Uint8Array, keyLength: number, out: Uint8Array): number {
    try {
      return this.#native.getInto(this.#handle, family, key, keyLength, out);
    } catch (error) {
      throw this.#named(error, 'get');
    }
  }

  getMany(family: number, keys: Uint8Array, keysLength: number, out: Uint8Array): number {
    try {
      return this.#native.getMany(this.#handle, family, keys, keysLength, out);
    } catch (error) {
      throw this.#named(error, 'get of many');
    }
  }

  put(family: number, key: Uint8Array, keyLength: number, value: Uint8Array, valueLength: number): void {
    try {
      this.#native.put(this.#handle, family, key, keyLength, value, valueLength);
    } catch (error) {
      throw this.#named(error, 'put');
    }
  }

  delete(family: number, key: Uint8Array, keyLength: number): void {
    try {
      this.#native.remove(this.#handle, family, key, keyLength);
    } catch (error) {
      throw this.#named(error, 'delete');
    }
  }

  write(batch: Uint8Array, length: number): void {
    try {
      this.#native.write(this.#handle, batch, length);
    } catch (error) {
      throw this.#named(error, 'write');
    }
  }

  dropRange(family: number, lower: Uint8Array, upper: Uint8Array): void {
    try {
      this.#native.dropRange(this.#handle, family, lower, upper);
    } catch (error) {
      throw this.#named(error, 'drop of a range');
    }
  }

  snapshot(): RocksSnapshot {
    try {
      return new NativeSnapshot(this.#native, this.#native.takeSnapshot(this.#handle));
    } catch (error) {
      throw this.#named(error, 'snapshot');
    }
  }

  iterate(family: number, { lower, upper, snapshot }: RocksRange = {}): RocksIterator {
    try {
      const view = snapshot instanceof NativeSnapshot ? snapshot.handle : (snapshot as SnapshotHandle | undefined);
      const handle = this.#native.iterate(this.#handle, family, lower, upper, view);
      return new NativeIterator(this.#native, this.#directory, handle);
    } catch (error) {
      throw this.#named(error, 'iterate');
    }
  }

  writeAside(batch: Uint8Array, length: number): Promise<void> {
    return this.#settled(() => this.#native.writeAside(this.#handle, batch, length), 'write');
  }

  flush(): Promise<void> {
    return this.#settled(() => this.#native.flush(this.#handle), 'flush');
  }

  checkpoint(directory: string): Promise<void> {
    return this.#settled(() => this.#native.checkpoint(this.#handle, directory), 'checkpoint');
  }

  compact(family: number): Promise<void> {
    return this.#settled(() => this.#native.compact(this.#handle, family), 'compact');
  }

  setNow(ms: number): void {
    try {
      this.#native.setNow(this.#handle, ms);
    } catch (error) {
      throw this.#named(error, 'setting of the clock');
    }
  }

  liveFiles(): readonly RocksFile[] {
    try {
      return this.#native.liveFiles(this.#handle);
    } catch (error) {
      throw this.#named(error, 'list of files');
    }
  }

  property(name: string, family = 0): string | undefined {
    try {
      return this.#native.property(this.#handle, name, family);
    } catch (error) {
      throw this.#named(error, 'property');
    }
  }

  statistics(): string | undefined {
    try {
      return this.#native.statistics(this.#handle);
    } catch (error) {
      throw this.#named(error, 'statistics');
    }
  }

  close(): void {
    this.#native.close(this.#handle);
  }

  /** An `async` function, so that what the addon throws at once rejects as well. */
  async #settled(work: () => Promise<void>, doing: string): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw this.#named(error, doing);
    }
  }

  #named(error: unknown, doing: string): Error {
    return driverError(error, doing, this.#directory);
  }
}

class NativeSnapshot implements RocksSnapshot {
  readonly #native: NativeBinding;
  readonly handle: SnapshotHandle;

  constructor(native: NativeBinding, handle: SnapshotHandle) {
    this.#native = native;
    this.handle = handle;
  }

  release(): void {
    this.#native.releaseSnapshot(this.handle);
  }
}

class NativeIterator implements RocksIterator {
  readonly #native: NativeBinding;
  readonly #directory: string;
  readonly #handle: IteratorHandle;

  constructor(native: NativeBinding, directory: string, handle: IteratorHandle) {
    this.#native = native;
    this.#directory = directory;
    this.#handle = handle;
  }

  next(out: Uint8Array): number {
    try {
      return this.#native.next(this.#handle, out);
    } catch (error) {
      throw driverError(error, 'next', this.#directory);
    }
  }

  close(): void {
    this.#native.closeIterator(this.#handle);
  }
}
