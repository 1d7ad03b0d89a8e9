import { parseArgs } from 'node:util';
import { seededRandom } from '@weir/testkit';
import { killRun, type KillRecord, type Parallelism, type RunResult } from './kill-run.js';
import { PHASES } from './phases.js';

const LEAST_SHARE_PER_PHASE = 0.02;
const LEAST_SHARE_AFTER_CHECKPOINT = 0.6;
/** Below this many kills a share per phase says nothing. */
const FEWEST_FOR_SHARES = 50;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string' },
    /** Every job changes its parallelism from process to process; otherwise every second one does. */
    rescale: { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) {
  console.error('usage: npm run e2e -- --kills <count> [--seed <number>] [--rescale]');
  process.exit(2);
}

const started = performance.now();
console.log(`killing ${String(kills)} processes, seed ${String(seed)}`);
const some = Math.max(1, Math.round(kills / 10));
const exactly = await killAll('exactly-once', kills, seed);
const atLeast = await killAll('at-least-once', some, seed + 1);
const unaligned = await killAll('unaligned', some, seed + 2);
const loops = await killAll('loop', some, seed + 3);
histogram(exactly.kills);
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
console.log(
  `e2e loops: ${String(loops.kills.length)} kills, ${String(loops.lost)} lost, ${String(loops.duplicated)} duplicated`,
);
console.log(`e2e at-least-once: ${String(atLeast.kills.length)} kills, ${String(atLeast.lost)} lost`);
console.log(
  `e2e unaligned: ${String(unaligned.kills.length)} kills, ${String(unaligned.lost)} lost, ${String(unaligned.duplicated)} duplicated`,
);

const isSpread = isWellSpread(exactly.kills);
console.log(
  `e2e: ${String(exactly.kills.length)} kills, ${String(exactly.lost)} lost, ${String(exactly.duplicated)} duplicated`,
);
process.exitCode =
  exactly.lost + exactly.duplicated + atLeast.lost + unaligned.lost + unaligned.duplicated === 0 &&
  loops.lost + loops.duplicated === 0 &&
  exactly.kills.length === kills &&
  isSpread
    ? 0
    : 1;

/** Job after job, two at a time, over parallelism 1, 2, 4 and changing ones, until exactly `count` processes were killed. */
async function killAll(
  kind: 'exactly-once' | 'at-least-once' | 'unaligned' | 'loop',
  count: number,
  seedOfMode: number,
): Promise<RunResult> {
  const mode = kind === 'at-least-once' ? kind : 'exactly-once';
  const all: KillRecord[] = [];
  let lost = 0;
  let duplicated = 0;
  let reserved = 0;
  let run = 0;
  const lane = async (): Promise<void> => {
    while (reserved < count) {
      const atMost = Math.min(20, count - reserved);
      reserved += atMost;
      const number = run++;
      const parallelism = parallelismOf(number);
      const result = await killRun(
        { mode, unaligned: kind === 'unaligned', shape: kind === 'loop' ? 'loop' : 'chain', parallelism },
        atMost,
        seededRandom(seedOfMode * 1_000_003 + number),
      );
      // A job that finished before it was killed that often gives back what is left.
      reserved -= atMost - result.kills.length;
      all.push(...result.kills);
      lost += result.lost;
      duplicated += result.duplicated;
      console.log(
        `${kind} job ${String(number + 1)} (parallelism ${String(parallelism)}): ${String(result.kills.length)} kills, ` +
          `${String(result.lost)} lost, ${String(result.duplicated)} duplicated; ${String(all.length)} of ${String(count)}`,
      );
    }
  };
  await Promise.all([lane(), lane()]);
  return { kills: all, lost, duplicated };
}

function parallelismOf(job: number): Parallelism {
  if (values.rescale || job % 2 === 1) return 'changing';
  return [1, 2, 4][(job / 2) % 3]!;
}

function histogram(records: readonly KillRecord[]): void {
  for (const phase of PHASES) {
    const count = records.filter((record) => record.phase === phase).length;
    const share = count / records.length;
    console.log(
      `  ${phase.padEnd(8)} ${String(count).padStart(5)} ${(share * 100).toFixed(1).padStart(5)} %  ${'▇'.repeat(Math.round(share * 60))}`,
    );
  }
  const after = records.filter(({ isAfterCheckpoint }) => isAfterCheckpoint).length;
  console.log(`  ${((after / records.length) * 100).toFixed(0)} % after a completed checkpoint`);
  console.log(`  ${String(rescaled(records).length)} in a process of another parallelism than the one before`);
}

function rescaled(records: readonly KillRecord[]): readonly KillRecord[] {
  return records.filter(({ isRescaled, isAfterCheckpoint }) => isRescaled && isAfterCheckpoint);
}

function isWellSpread(records: readonly KillRecord[]): boolean {
  if (records.length < FEWEST_FOR_SHARES) return true;
  const share = (matches: (record: KillRecord) => boolean): number => records.filter(matches).length / records.length;
  const rare = PHASES.filter((name) => share(({ phase }) => phase === name) < LEAST_SHARE_PER_PHASE);
  if (rare.length > 0) console.log(`fewer than 2 % of the kills were in: ${rare.join(', ')}`);
  const after = share(({ isAfterCheckpoint }) => isAfterCheckpoint);
  if (after < LEAST_SHARE_AFTER_CHECKPOINT)
    console.log('fewer than 60 % of the kills came after a completed checkpoint');
  const isRescaled = rescaled(records).length > 0;
  if (!isRescaled) console.log('no process was killed that had another parallelism than the one before');
  return rare.length === 0 && after >= LEAST_SHARE_AFTER_CHECKPOINT && isRescaled;
}
