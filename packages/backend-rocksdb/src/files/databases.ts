import type { WorkingDirectory } from '../adapters/working-directory.js';
import type { RocksDatabase, RocksDriver, RocksOptions } from '../driver/rocks-driver.js';

export type DatabaseOptions = Pick<RocksOptions, 'blockCacheBytes' | 'writeBufferBytes' | 'compression'>;

/** The databases of one store: the one that it works on, and those that it restores from. */
export class Databases {
  readonly directory: WorkingDirectory;
  readonly #driver: RocksDriver;
  readonly #options: DatabaseOptions;
  #places = 0;

  constructor(driver: RocksDriver, directory: WorkingDirectory, options: DatabaseOptions) {
    this.directory = directory;
    this.#driver = driver;
    this.#options = options;
  }

  get libraryVersion(): string {
    return this.#driver.libraryVersion;
  }
  get compression(): string {
    return this.#options.compression;
  }
  /** Where nothing lies yet. */
  newPlace(name: string): string {
    return this.directory.place(`${name}-${String(this.#places++)}`);
  }
  open(place: string, mode: RocksOptions['mode']): RocksDatabase {
    return this.#driver.open(place, { ...this.#options, mode, columnFamilies: ['default'], bloomBitsPerKey: 10 });
  }
}
