import { paired, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { measureWindow, type WindowResult } from '../window.js';
import { workload } from '../workload.js';

const PAIRS = 9;

/**
 * What a checkpoint every second costs: 1 - throughput with / throughput without, 100,000 string keys. Four windows make a pair, those with
 * around or between those without: a machine that gets steadily faster or slower meanwhile then favours neither.
 */
export async function checkpointOverhead(report: Report): Promise<void> {
  const records = workload('string', 100_000);
  const windows: WindowResult[] = [];
  const overheads: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const outer = pair % 2 === 0;
    const rates = { with: 0, without: 0 };
    for (const checkpoints of [outer, !outer, !outer, outer]) {
      const window = await measureWindow({ records }, checkpoints);
      rates[checkpoints ? 'with' : 'without'] += window.recordsPerSecond;
      if (checkpoints) windows.push(window);
    }
    overheads.push(1 - rates.with / rates.without);
  }
  report.add(
    'checkpoint_overhead',
    withCheckpoints(paired(overheads, { unit: 'share', bar: { atMost: 0.05 } }), windows),
  );
}
