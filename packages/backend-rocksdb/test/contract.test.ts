import { stateBackendSuite } from '@weir/testkit';
import { test } from 'vitest';
import { createRocksStateBackendOver } from '../src/rocks-state-backend.js';
import { describeRocks, useDirectory } from './support/driver.js';

const preservedBytes = 100_000;

// A cache that holds a few cells has to write and to read again all the time; one that holds everything keeps what is dirty to the capture.
for (const [title, cacheSize] of [
  ['with all of it in memory', 1 << 26],
  ['with nothing of it in memory', 1],
] as const) {
  describeRocks(`RocksDB state ${title}`, (driver) => {
    const place = useDirectory();
    // Each history opens dozens of databases.
    stateBackendSuite((title, body) => test(title, body, 60_000), {
      create: () =>
        createRocksStateBackendOver(driver, {
          dir: place('work'),
          cacheSize,
          preservedBytes,
          memtableSize: 1 << 20,
          blockCacheSize: 1 << 20,
        }),
      pressedAbove: preservedBytes,
      histories: 5,
    });
  });
}
