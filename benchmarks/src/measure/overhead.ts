import { paired, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { measureWindow, type WindowResult } from '../window.js';
import { workload } from '../workload.js';

const PAIRS = 9;

/** What a checkpoint every second costs: 1 - throughput with / throughput without, 100,000 string keys. Which runs first alternates. */
export async function checkpointOverhead(report: Report): Promise<void> {
  const records = workload('string', 100_000);
  const windows: WindowResult[] = [];
  const overheads: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const first = await measureWindow({ records }, pair % 2 === 0);
    const second = await measureWindow({ records }, pair % 2 !== 0);
    const [with_, without] = pair % 2 === 0 ? [first, second] : [second, first];
    windows.push(with_);
    overheads.push(1 - with_.recordsPerSecond / without.recordsPerSecond);
  }
  report.add(
    'checkpoint_overhead',
    withCheckpoints(paired(overheads, { unit: 'share', bar: { atMost: 0.05 } }), windows),
  );
}
