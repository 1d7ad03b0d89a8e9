import { ratioOf, thereAndBack, type Ratio } from '../abba.js';
import { compared, withCheckpoints } from '../figure.js';
import { rxjsExpand, weirIterate } from '../loop-programs.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';
import { WINDOW_MS, type WindowResult } from '../window.js';

const ROUNDS = 3;
const RXJS_MS = 3000;
const SLACK_MS = 600;

/** A loop to a fixed point with exactly-once checkpoints every second, over the same loop with RxJS `expand`. */
export async function cycles(report: Report): Promise<void> {
  const windows: WindowResult[] = [];
  const ratios: Ratio[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { byExpand, byIterate } = await thereAndBack(round, {
      byExpand: () => rxjsExpand(RXJS_MS),
      byIterate: async () => {
        const window = await weirIterate(WINDOW_MS + SLACK_MS);
        windows.push(window);
        return window;
      },
    });
    ratios.push(ratioOf(byIterate, byExpand));
  }
  const details = { records_per_second: round(median(windows.map(({ recordsPerSecond }) => recordsPerSecond))) };
  report.add(
    'cycle_throughput_vs_rxjs_expand',
    withCheckpoints(compared(ratios, { unit: 'ratio', bar: { atLeast: 1 }, details }), windows),
  );
}
