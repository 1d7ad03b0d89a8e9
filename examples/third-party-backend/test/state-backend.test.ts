import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateBackendSuite } from '@weir/testkit';
import { afterAll, describe, test, vi } from 'vitest';

// Hundreds of databases are made.
vi.setConfig({ testTimeout: 60_000 });

// In memory where the system has such a directory: nothing here is about what a disk keeps.
const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'weir-lmdb-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

// LMDB has binaries for most platforms, and is left out where it has none.
const lmdb = await import('lmdb').catch(() => undefined);

describe.skipIf(lmdb === undefined)('state in LMDB', () => {
  stateBackendSuite(test, {
    create: async () => (await import('../src/index.js')).createLmdbState({ directory }),
    histories: 3,
  });
});
