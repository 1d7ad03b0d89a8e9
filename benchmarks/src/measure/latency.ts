import { setTimeout as sleep } from 'node:timers/promises';
import { paired } from '../figure.js';
import { startLatencyJob } from '../latency-job.js';
import type { Report } from '../report.js';
import { quantile, round } from '../statistics.js';
import { FEWEST_CHECKPOINTS } from '../window.js';

const RUNS = 3;
const MS = 10_000;

/** From the source to `SinkWriter.write` at 1,000 records per second, with a checkpoint every 100 ms. */
export async function latency(report: Report): Promise<void> {
  const p99: number[] = [];
  const p50: number[] = [];
  let checkpoints = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const job = await startLatencyJob({ ratePerSecond: 1000, checkpointEveryMs: 100 });
    await sleep(1000);
    job.latenciesMs.length = 0;
    const before = job.completed();
    await sleep(MS);
    p99.push(quantile(job.latenciesMs, 0.99));
    p50.push(quantile(job.latenciesMs, 0.5));
    checkpoints = Math.min(checkpoints, job.completed() - before);
    await job.stop();
  }
  const figure = paired(p99, {
    unit: 'ms',
    bar: { atMost: 5 },
    details: { p50_ms: p50.map(round), checkpoints_completed: checkpoints },
  });
  report.add('latency_p99_ms_1krps', checkpoints < FEWEST_CHECKPOINTS ? { ...figure, value: null } : figure);
}
