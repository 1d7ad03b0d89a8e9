import { setTimeout as sleep } from 'node:timers/promises';
import { answer, argument } from '../child.js';
import { startJob } from '../job.js';
import { workload } from '../workload.js';

/** A sink that is far slower than the source, for a while: how memory grows meanwhile. */
export interface BackpressureResult {
  readonly growthBytes: number;
  readonly recordsWritten: number;
}

const { ms } = argument<{ readonly ms: number }>();
const records = workload('string', 1000);
// A source alone moves more than a million records per second; this sink takes a millisecond for each.
const job = await startJob({ records, checkpointEveryMs: 1000, onWrite: async (batch) => sleep(batch.length) });
await sleep(5000);
globalThis.gc?.();
const before = process.memoryUsage.rss();
let peak = before;
const start = performance.now();
while (performance.now() - start < ms) {
  await sleep(100);
  peak = Math.max(peak, process.memoryUsage.rss());
}
const recordsWritten = job.counts.written;
void job[Symbol.asyncDispose]();
answer({ growthBytes: peak - before, recordsWritten } satisfies BackpressureResult);
