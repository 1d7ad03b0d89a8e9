import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { rocksdb } from './support/rocksdb.js';

const WARM = 12;
const RESTARTS = 50;
/** Far below what a single attempt kept alive for each restart would add: about 2 MB each. */
const MOST_MEGABYTES = 20;
/** Room for new objects and for each thread's allocations grows when a busy machine lets it, by 48 MB and more, and is no leak. */
const STEADY_HEAP = '--max-semi-space-size=1';
const STEADY_ALLOCATOR = { MALLOC_ARENA_MAX: '2' };

interface Held {
  readonly megabytes: number;
  readonly files: number;
}

describe.skipIf(rocksdb === undefined)('a job on RocksDB that fails over and over in one process', () => {
  test(`holds as much memory and as many open files after ${String(RESTARTS)} more restarts as before`, async () => {
    const script = fileURLToPath(new URL('../dist/restart-often.js', import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--expose-gc', STEADY_HEAP, script, String(WARM), String(RESTARTS)],
      { env: { ...process.env, ...STEADY_ALLOCATOR } },
    );
    const { before, end } = JSON.parse(stdout) as { readonly before: Held; readonly end: Held };
    expect(end.files - before.files).toBeLessThanOrEqual(8);
    expect(end.megabytes - before.megabytes).toBeLessThan(MOST_MEGABYTES);
  }, 300_000);
});
