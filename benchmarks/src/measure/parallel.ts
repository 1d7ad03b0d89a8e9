import { ratioOf, thereAndBack, type Ratio } from '../abba.js';
import { compared, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { measureInto, type WindowResult } from '../window.js';
import { workload } from '../workload.js';

const ROUNDS = 3;

/** Parallelism 4 on one thread (hash exchange, alignment of four channels) over parallelism 1. */
export async function parallel(report: Report): Promise<void> {
  const records = workload('string', 100_000);
  const windows: WindowResult[] = [];
  const ratios: Ratio[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { one, four } = await thereAndBack(round, {
      one: () => measureInto(windows, { records }),
      four: () => measureInto(windows, { records, parallelism: 4 }),
    });
    ratios.push(ratioOf(four, one));
  }
  report.add('parallel4_vs_1', withCheckpoints(compared(ratios, { unit: 'ratio', bar: { atLeast: 0.5 } }), windows));
}
