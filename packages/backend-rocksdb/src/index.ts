export type {
  RocksDatabase,
  RocksDriver,
  RocksFile,
  RocksIterator,
  RocksOptions,
  RocksRange,
  RocksSnapshot,
} from './driver/rocks-driver.js';
