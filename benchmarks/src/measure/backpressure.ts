import { inChild } from '../child.js';
import type { BackpressureResult } from '../child/backpressure.js';
import type { Report } from '../report.js';
import { round } from '../statistics.js';

const MS = 60_000;

/** Growth of resident memory in a minute with a sink more than a thousand times slower than the source. */
export async function backpressure(report: Report): Promise<void> {
  const { growthBytes, recordsWritten } = await inChild<BackpressureResult>('backpressure', { ms: MS }, [
    '--expose-gc',
  ]);
  report.add('backpressure_rss_growth_mb', {
    value: round(growthBytes / 2 ** 20),
    unit: 'MiB',
    bar: { atMost: 20 },
    runs: 1,
    details: { records_written: recordsWritten },
  });
}
