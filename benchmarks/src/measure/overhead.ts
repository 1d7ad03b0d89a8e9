import { lossOf, ratioOf, thereAndBack, type Ratio } from '../abba.js';
import { compared, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { measureInto, measureWindow, type WindowResult } from '../window.js';
import { workload } from '../workload.js';

const ROUNDS = 9;

/** What a checkpoint every second costs: 1 - throughput with / throughput without, 100,000 string keys. */
export async function checkpointOverhead(report: Report): Promise<void> {
  const records = workload('string', 100_000);
  const windows: WindowResult[] = [];
  const overheads: Ratio[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { on, off } = await thereAndBack(round, {
      on: () => measureInto(windows, { records }),
      off: () => measureWindow({ records }, false),
    });
    overheads.push(lossOf(ratioOf(on, off)));
  }
  report.add(
    'checkpoint_overhead',
    withCheckpoints(compared(overheads, { unit: 'share', bar: { atMost: 0.05 } }), windows),
  );
}
