import { ratioOf, thereAndBack, type Ratio } from '../abba.js';
import { compared, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { measureInto, measureWindow, WINDOW_MS, type WindowResult } from '../window.js';
import { workload } from '../workload.js';

interface Variant {
  readonly name: string;
  readonly everyMs: number;
  /** Sources stand still from the trigger of a checkpoint until it is complete. */
  readonly stopTheWorld?: boolean;
  readonly rounds: number;
  /** Enough for ten checkpoints. */
  readonly ms?: number;
}

const ROUNDS = 2;
const VARIANTS: readonly Variant[] = [
  { name: '10ms', everyMs: 10, rounds: ROUNDS },
  { name: '100ms', everyMs: 100, rounds: 3 },
  { name: '100ms_stop_the_world', everyMs: 100, stopTheWorld: true, rounds: ROUNDS },
  { name: '1s', everyMs: 1000, rounds: ROUNDS },
  // Two windows of it take as long as all the others together.
  { name: '10s', everyMs: 10_000, rounds: 1, ms: 105_000 },
];

/**
 * Throughput with a checkpoint at each interval over throughput without any, 100,000 string keys; and what it would be if the job stood still for
 * every checkpoint (the experiment of "Lightweight Asynchronous Snapshots for Distributed Dataflows", section 6.2, on one thread).
 */
export async function intervals(report: Report): Promise<void> {
  const records = workload('string', 100_000);
  for (const { name, everyMs, stopTheWorld, rounds, ms } of VARIANTS) {
    const ratios: Ratio[] = [];
    const windows: WindowResult[] = [];
    for (let round = 0; round < rounds; round++) {
      const { on, off } = await thereAndBack(round, {
        off: () => measureWindow({ records }, false, WINDOW_MS),
        on: () => measureInto(windows, { records, checkpointEveryMs: everyMs, stopTheWorld }, ms),
      });
      ratios.push(ratioOf(on, off));
    }
    const bar = name === '100ms' ? { atLeast: 0.9 } : undefined;
    report.add(`interval_sweep_${name}`, withCheckpoints(compared(ratios, { unit: 'ratio', bar }), windows));
  }
}
