import { ratioOf, thereAndBack, type Ratio } from '../abba.js';
import { compared, withCheckpoints, type Figure } from '../figure.js';
import { rxjsGroupBy, rxjsMap } from '../rxjs-programs.js';
import { measureInto, type WindowResult } from '../window.js';
import { workload, type KeyKind } from '../workload.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';

const ROUNDS = 3;
/** Of what has no bar. */
const ROUNDS_FOR_COMPARISON = 2;
const RXJS_MS = 3000;

/** weir with exactly-once checkpoints every second to the file system, over the same job in plain RxJS. */
export async function throughput(report: Report): Promise<void> {
  for (const kind of ['string', 'number'] as const) {
    for (const [name, keys] of [
      ['1k', 1_000],
      ['100k', 100_000],
    ] as const)
      await compare(report, kind, name, keys);
  }
}

async function compare(report: Report, kind: KeyKind, name: string, keys: number): Promise<void> {
  const records = workload(kind, keys);
  const windows: WindowResult[] = [];
  const overMap: Ratio[] = [];
  const overGroupBy: Ratio[] = [];
  for (let round = 0; round < (kind === 'string' ? ROUNDS : ROUNDS_FOR_COMPARISON); round++) {
    const { byMap, byWeir, byGroup } = await thereAndBack(round, {
      byMap: () => rxjsMap(records, RXJS_MS),
      byWeir: () => measureInto(windows, { records }),
      byGroup: () => rxjsGroupBy(records, RXJS_MS),
    });
    overMap.push(ratioOf(byWeir, byMap));
    overGroupBy.push(ratioOf(byWeir, byGroup));
  }
  const suffix = kind === 'string' ? name : `${name}_number_keys`;
  const details = { records_per_second: round(median(windows.map((window) => window.recordsPerSecond))) };
  const figure = (ratios: readonly Ratio[], atLeast: number): Figure =>
    withCheckpoints(
      compared(ratios, { unit: 'ratio', details, bar: kind === 'string' ? { atLeast } : undefined }),
      windows,
    );
  report.add(`throughput_vs_rxjs_map_${suffix}`, figure(overMap, 1));
  report.add(`throughput_vs_rxjs_groupby_${suffix}`, figure(overGroupBy, 3));
}
