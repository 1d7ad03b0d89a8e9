import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@weir/core/contracts';
import { afterEach, describe } from 'vitest';
import { BINARIES, loadDriver } from '../../src/driver/load-driver.js';
import type { RocksDriver, RocksOptions } from '../../src/driver/rocks-driver.js';

const driver = loadOrSkip();

/**
 * A group of tests that need RocksDB. Without a driver they are skipped, and the reason is printed; where `CI` is set they fail, so that
 * nobody takes their absence for success.
 */
export function describeRocks(name: string, tests: (driver: RocksDriver) => void): void {
  if (driver === undefined) {
    // The tests are listed and not run, so none of them meets the driver that is not there.
    describe.skip(name, () => tests(undefined as unknown as RocksDriver));
  } else {
    describe(name, () => tests(driver));
  }
}

/** The addon itself, for programs that load it without this package. */
export function binaryPath(): string {
  const files = BINARIES.map((binary) => fileURLToPath(new URL(`../../${binary}`, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? 'none';
}

/** Small buffers, so that little data makes many files. */
export const OPTIONS: RocksOptions = {
  mode: 'create',
  columnFamilies: ['default'],
  blockCacheBytes: 1 << 20,
  writeBufferBytes: 1 << 20,
  compression: 'snappy',
  bloomBitsPerKey: 10,
};

// In memory where the system has such a directory: nothing here is about what a disk keeps, and RocksDB syncs a lot.
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Gives paths in a directory that is there for one test; nothing lies at them yet. */
export function useDirectory(): (name: string) => string {
  let directory: string | undefined;
  afterEach(() => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    directory = undefined;
  });
  return (name) => path.join((directory ??= mkdtempSync(path.join(BASE, 'weir-rocksdb-'))), name);
}

function loadOrSkip(): RocksDriver | undefined {
  try {
    return loadDriver();
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error;
    console.warn(`Tests that need RocksDB are skipped. ${messageOf(error)}`);
    return undefined;
  }
}
