import { fsStorage } from '@weir/backend-fs';
import type { FsStoragePluginOptions } from '@weir/backend-fs';
import { definePlugin, settingOf } from '@weir/core';
import type { MemorySize, Plugin, PluginFactory } from '@weir/core';
import { StateBackendRole } from '@weir/core/contracts';
import { createRocksStateBackend } from './rocks-state-backend.js';
import type { RocksStateOptions } from './rocks-state-backend.js';

/** Options of {@link rocksState}; sizes are of one operator in one subtask. All but `preservedBytes` can also be set in the configuration. */
export interface RocksStatePluginOptions {
  /** Where working state lies while the process lives. Default: the temporary directory of the system. Key `state.backend.rocksdb.localdir`. */
  readonly dir?: string | undefined;
  /** Keys and values in memory as live values. Default '64 mb'. Key `weir.rocksdb.cache-size`. */
  readonly cacheSize?: MemorySize | undefined;
  /** What captures may hold in memory beyond that; above it, no records come. Default '16 mb'. */
  readonly preservedBytes?: MemorySize | undefined;
  /** RocksDB's blocks in memory. Default '8 mb'. Key `state.backend.rocksdb.block.cache-size`. */
  readonly blockCacheSize?: MemorySize | undefined;
  /** Writes that RocksDB collects before it makes a file of them. Default '64 mb'. Key `state.backend.rocksdb.writebuffer.size`. */
  readonly memtableSize?: MemorySize | undefined;
  /** Of the files. Default `snappy`. Key `state.backend.rocksdb.compression.per.level`. */
  readonly compression?: 'snappy' | 'none' | undefined;
}

/** Fills the role of state backend with RocksDB, as type `rocksdb`. */
export const rocksState: PluginFactory<RocksStatePluginOptions> = definePlugin<RocksStatePluginOptions>({
  name: '@weir/backend-rocksdb',
  options: {
    type: 'object',
    properties: {
      dir: { type: 'string', minLength: 1 },
      cacheSize: settingOf('weir.rocksdb.cache-size'),
      preservedBytes: { holds: { kind: 'memory-size', min: 1 } },
      blockCacheSize: settingOf('state.backend.rocksdb.block.cache-size'),
      memtableSize: settingOf('state.backend.rocksdb.writebuffer.size'),
      compression: settingOf('state.backend.rocksdb.compression.per.level'),
    },
  },
  keys: {
    dir: 'state.backend.rocksdb.localdir',
    cacheSize: 'weir.rocksdb.cache-size',
    blockCacheSize: 'state.backend.rocksdb.block.cache-size',
    memtableSize: 'state.backend.rocksdb.writebuffer.size',
    compression: 'state.backend.rocksdb.compression.per.level',
  },
  install(binder, options) {
    // The schema has read sizes as numbers of bytes.
    binder.provide(StateBackendRole, 'rocksdb', () => createRocksStateBackend(options as RocksStateOptions));
  },
});

/** State in RocksDB, checkpoints on the local disk (Flink: RocksDBStateBackend): `rocksState(options)` and `fsStorage(options)`. */
export function rocksBackend(options: RocksStatePluginOptions & FsStoragePluginOptions = {}): readonly Plugin[] {
  const { checkpointsDir, savepointsDir, inlineThreshold, writeBufferSize, ...state } = options;
  return [rocksState(state), fsStorage({ checkpointsDir, savepointsDir, inlineThreshold, writeBufferSize })];
}
