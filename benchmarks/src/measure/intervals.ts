import { paired, withCheckpoints } from '../figure.js';
import type { Report } from '../report.js';
import { measureWindow, WINDOW_MS, type WindowResult } from '../window.js';
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
  // One window of it takes as long as all the others together.
  { name: '10s', everyMs: 10_000, rounds: 1, ms: 105_000 },
];

/**
 * Throughput with a checkpoint at each interval over throughput without any, 100,000 string keys; and what it would be if the job stood still for
 * every checkpoint (the experiment of "Lightweight Asynchronous Snapshots for Distributed Dataflows", section 6.2, on one thread).
 */
export async function intervals(report: Report): Promise<void> {
  const records = workload('string', 100_000);
  for (const { name, everyMs, stopTheWorld, rounds, ms } of VARIANTS) {
    const ratios: number[] = [];
    const windows: WindowResult[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = await measureWindow({ records }, false, WINDOW_MS);
      const window = await measureWindow({ records, checkpointEveryMs: everyMs, stopTheWorld }, true, ms);
      const after = await measureWindow({ records }, false, WINDOW_MS);
      windows.push(window);
      ratios.push((2 * window.recordsPerSecond) / (before.recordsPerSecond + after.recordsPerSecond));
    }
    const bar = name === '100ms' ? { atLeast: 0.9 } : undefined;
    report.add(`interval_sweep_${name}`, withCheckpoints(paired(ratios, { unit: 'ratio', bar }), windows));
  }
}
