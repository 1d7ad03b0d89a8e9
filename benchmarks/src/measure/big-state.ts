import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inChild } from '../child.js';
import type { BigStateArgument, BigStateResult } from '../child/big-state.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';

const KEYS = 20_000_000;
const CACHE_BYTES = 64 * 1024 * 1024;
const MS = 60_000;

/** 20,000,000 keys of 100 bytes in RocksDB: resident memory, throughput, checkpoints, and the time until they are there again. */
export async function bigState(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  try {
    const run = (phase: BigStateArgument['phase']): Promise<BigStateResult> =>
      inChild<BigStateResult>('big-state', {
        dir,
        keys: KEYS,
        cacheBytes: CACHE_BYTES,
        phase,
        ms: MS,
      } satisfies BigStateArgument);
    const filled = await run('fill');
    const again = await run('restore');
    if (!again.restored) throw new Error('the job did not restore anything');
    report.add('big_state', {
      value: Math.round(filled.peakRssBytes / 2 ** 20),
      unit: 'MiB resident',
      bar: { atMost: 1024 },
      details: {
        keys: KEYS,
        state_bytes: filled.stateBytes,
        fill_records_per_second: round(filled.fillRecordsPerSecond),
        records_per_second: round(filled.recordsPerSecond),
        checkpoints_completed: filled.checkpointMs.length,
        checkpoint_ms: round(median(filled.checkpointMs)),
        checkpoint_written_bytes: Math.round(median(filled.checkpointBytes)),
        restore_s: round(again.restoreMs / 1000),
        restore_resident_mib: Math.round(again.peakRssBytes / 2 ** 20),
      },
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
