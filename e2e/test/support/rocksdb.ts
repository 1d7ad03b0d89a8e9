import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRocksStateBackend } from '@weir/backend-rocksdb';
import { messageOf, type StateBackend } from '@weir/core/contracts';
import { afterAll } from 'vitest';

// In memory where the system has such a directory: nothing here is about what a disk keeps.
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** RocksDB, or undefined where its driver is not built. Where `CI` is set that is an error, so that nobody takes skipped tests for success. */
export const rocksdb: StateBackend | undefined = backendOrNothing();

function backendOrNothing(): StateBackend | undefined {
  const dir = mkdtempSync(join(BASE, 'weir-e2e-'));
  afterAll(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  try {
    return createRocksStateBackend({ dir, memtableSize: 1 << 20 });
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error;
    console.warn(`tests with RocksDB are skipped: ${messageOf(error)}`);
    return undefined;
  }
}
