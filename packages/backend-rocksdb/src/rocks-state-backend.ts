import { tmpdir } from 'node:os';
import { localPath, WeirError } from '@weir/core/contracts';
import type { StateBackend } from '@weir/core/contracts';
import { WorkingDirectories, localDisk, removeRemains, type Disk } from './adapters/working-directory.js';
import { loadDriver } from './driver/load-driver.js';
import type { RocksDriver } from './driver/rocks-driver.js';
import { Databases } from './files/databases.js';
import { RocksStateStore } from './rocks-state-store.js';

/** Options of {@link createRocksStateBackend}. Sizes are in bytes, and of one operator in one subtask. */
export interface RocksStateOptions {
  /** Where working state lies while the process lives, on the local disk. Default: the temporary directory of the system. */
  readonly dir?: string | undefined;
  /** Of keys, values and what keeps them, in memory as live values. Default 64 MiB. */
  readonly cacheSize?: number | undefined;
  /** What captures may hold in memory beyond that; above it the stage takes no records until writing has caught up. Default 16 MiB. */
  readonly preservedBytes?: number | undefined;
  /** Of RocksDB's blocks in memory (data, index and filters). Default 8 MiB. */
  readonly blockCacheSize?: number | undefined;
  /** Writes that RocksDB collects before it makes a file of them. Default 64 MiB. */
  readonly memtableSize?: number | undefined;
  /** Default `snappy`. */
  readonly compression?: 'snappy' | 'none' | undefined;
}

const MIB = 1024 * 1024;

/**
 * Keyed state in RocksDB, so that it may be larger than the heap (Flink: EmbeddedRocksDBStateBackend). Fails with ROCKSDB_UNAVAILABLE, which says
 * what to install, where there is no RocksDB.
 */
export function createRocksStateBackend(options: RocksStateOptions = {}): StateBackend {
  return createRocksStateBackendOver(loadDriver(), options);
}

/** The same over any driver and disk. */
export function createRocksStateBackendOver(
  driver: RocksDriver,
  options: RocksStateOptions = {},
  disk: Disk = localDisk,
): StateBackend {
  const dir = localPath(options.dir ?? tmpdir(), 'The dir of RocksDB');
  const {
    cacheSize = 64 * MIB,
    preservedBytes = 16 * MIB,
    blockCacheSize = 8 * MIB,
    memtableSize = 64 * MIB,
    compression = 'snappy',
  } = options;
  requireSizes({ cacheSize, preservedBytes, blockCacheSize, memtableSize });
  const database = { blockCacheBytes: blockCacheSize, writeBufferBytes: memtableSize, compression };
  const directories = new WorkingDirectories(dir, disk);
  let isClean = false;
  return {
    type: 'rocksdb',
    capabilities: { keepsIdentity: true, incremental: true },
    async open(scope) {
      if (!isClean) removeRemains(dir);
      isClean = true;
      const directory = await directories.create(scope.job, scope.operator, scope.subtask, scope.logger);
      try {
        return new RocksStateStore(scope, { cacheSize, preservedBytes }, new Databases(driver, directory, database));
      } catch (error) {
        await directory.remove();
        throw error;
      }
    },
  };
}

function requireSizes(sizes: Readonly<Record<string, number>>): void {
  for (const [name, bytes] of Object.entries(sizes)) {
    if (Number.isSafeInteger(bytes) && bytes >= 1) continue;
    throw new WeirError('CONFIG_INVALID', `${name} must be a number of bytes, not ${bytes}.`, { recoverable: false });
  }
}
