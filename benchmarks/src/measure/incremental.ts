import { setTimeout as sleep } from 'node:timers/promises';
import { paired } from '../figure.js';
import { startJob, type StateChoice } from '../job.js';
import type { Report } from '../report.js';
import { distinct, type Input } from '../workload.js';

const KEYS = 1_000_000;
const CHECKPOINTS = 20;
/** Of the keys, between two checkpoints. */
const CHURN = 0.01;

/** Bytes written for an incremental checkpoint after 1 % of 1,000,000 keys has changed, over those of a full one; compactions included. */
export async function incremental(report: Report): Promise<void> {
  await measure(report, 'rocksdb', { rocksdb: {} }, 0.1);
  await measure(report, 'memory', undefined, 0.03);
}

async function measure(report: Report, name: string, state: StateChoice | undefined, atMost: number): Promise<void> {
  const records = afterOneAnother(distinct(KEYS));
  const gate = { open: KEYS };
  await using job = await startJob({
    records,
    state,
    upTo: () => gate.open,
    checkpointEveryMs: 3_600_000,
    checkpointing: { incremental: true },
  });
  const taken = async (): Promise<number> => {
    while (job.counts.read < gate.open) await sleep(5);
    return (await job.handle.triggerCheckpoint()).writtenBytes;
  };
  const full = await taken();
  const ratios: number[] = [];
  for (let i = 0; i < CHECKPOINTS; i++) {
    gate.open += KEYS * CHURN;
    ratios.push((await taken()) / full);
  }
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  report.add(`incremental_bytes_ratio_${name}`, {
    ...paired(ratios, { unit: 'ratio', bar: { atMost }, details: { full_bytes: full, statistic: 'mean' } }),
    value: Number(mean.toPrecision(4)),
  });
}

/** All keys in order, then again, far apart from one to the next: each of those between two checkpoints is another. */
function afterOneAnother(records: readonly Input[]): readonly Input[] {
  return Array.from({ length: 1 << 21 }, (_, i) => records[i < KEYS ? i : ((i - KEYS) * 7_919) % KEYS] as Input);
}
