import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { rocksdb } from './support/rocksdb.js';

const WARM = 12;
const RESTARTS = 50;
/** Far below what a single attempt kept alive for each restart would add: about 2 MB each. */
const MOST_MEGABYTES = 40;

interface Held {
  readonly megabytes: number;
  readonly files: number;
}

describe.skipIf(rocksdb === undefined)('a job on RocksDB that fails over and over in one process', () => {
  test(`holds as much memory and as many open files after ${String(RESTARTS)} more restarts as before`, async () => {
    const script = fileURLToPath(new URL('../dist/restart-often.js', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      script,
      String(WARM),
      String(RESTARTS),
    ]);
    const { before, end } = JSON.parse(stdout) as { readonly before: Held; readonly end: Held };
    expect(end.files - before.files).toBeLessThanOrEqual(8);
    expect(end.megabytes - before.megabytes).toBeLessThan(MOST_MEGABYTES);
  }, 300_000);
});
