export type {
  RocksDatabase,
  RocksDriver,
  RocksFile,
  RocksIterator,
  RocksOptions,
  RocksRange,
  RocksSnapshot,
} from './driver/rocks-driver.js';
export { rocksBackend, rocksState } from './plugin.js';
export type { RocksStatePluginOptions } from './plugin.js';
export { createRocksStateBackend } from './rocks-state-backend.js';
export type { RocksStateOptions } from './rocks-state-backend.js';
