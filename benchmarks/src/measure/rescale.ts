import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inChild } from '../child.js';
import type { RescaleArgument, RescaleResult } from '../child/rescale.js';
import { paired } from '../figure.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';

const RUNS = 5;
const KEYS = 1_000_000;

/** From the wish to stop a job with 1,000,000 keys at parallelism 2 until it runs again at 3; the savepoint in between included. */
export async function rescale(report: Report): Promise<void> {
  const results: RescaleResult[] = [];
  for (let i = 0; i < RUNS; i++) {
    const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
    try {
      const result = await inChild<RescaleResult>('rescale', {
        dir,
        keys: KEYS,
        from: 2,
        to: 3,
      } satisfies RescaleArgument);
      if (result.restoredCheckpoint === undefined) throw new Error('the job did not restore anything');
      results.push(result);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  report.add(
    'rescale_s_1m_keys',
    paired(
      results.map(({ rescaleMs }) => rescaleMs / 1000),
      {
        unit: 's',
        bar: { atMost: 4 },
        details: {
          stop_s: round(median(results.map(({ stopMs }) => stopMs / 1000))),
          snapshot_bytes: results[0]?.stateBytes,
        },
      },
    ),
  );
}
