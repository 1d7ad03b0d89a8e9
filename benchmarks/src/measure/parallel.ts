import { paired, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { measureWindow, type WindowResult } from '../window.js';
import { workload } from '../workload.js';

const PAIRS = 5;

/** Parallelism 4 on one thread (hash exchange, alignment of four channels) over parallelism 1. */
export async function parallel(report: Report): Promise<void> {
  const records = workload('string', 100_000);
  const windows: WindowResult[] = [];
  const ratios: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const one = await measureWindow({ records }, true);
    const four = await measureWindow({ records, parallelism: 4 }, true);
    windows.push(one, four);
    ratios.push(four.recordsPerSecond / one.recordsPerSecond);
  }
  report.add('parallel4_vs_1', withCheckpoints(paired(ratios, { unit: 'ratio', bar: { atLeast: 0.5 } }), windows));
}
