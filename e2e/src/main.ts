import { parseArgs } from 'node:util';
import { seededRandom } from '@weir/testkit';
import { killRun, type KillRecord, type Parallelism, type RunResult } from './kill-run.js';
import type { KillJobOptions } from './kill-job.js';
import { PHASES } from './phases.js';

const LEAST_SHARE_PER_PHASE = 0.02;
const LEAST_SHARE_AFTER_CHECKPOINT = 0.6;
/** Below this many kills a share per phase says nothing. */
const FEWEST_FOR_SHARES = 50;
/** Below this many it is chance whether a start from a backup comes where it has to be refused. */
const FEWEST_FOR_REFUSALS = 500;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string' },
    /** Every job changes its parallelism from process to process; otherwise every second one does. */
    rescale: { type: 'boolean', default: false },
    /** Where all jobs keep their state; otherwise most in memory, and some each way. */
    backend: { type: 'string' },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const BACKENDS: readonly string[] = ['memory', 'changelog', 'rocksdb'] satisfies readonly State[];
const backend = values.backend as State | undefined;
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed) || !BACKENDS.includes(backend ?? 'memory')) {
  console.error(
    `usage: npm run e2e -- --kills <count> [--seed <number>] [--rescale] [--backend ${BACKENDS.join(' | ')}]`,
  );
  process.exit(2);
}

const started = performance.now();
console.log(`killing ${String(kills)} processes, seed ${String(seed)}`);
const some = Math.max(1, Math.round(kills / 10));
const state = backend ?? 'memory';
const exactly = await killAll({ name: 'exactly-once', state }, kills, seed);
/** Of what is right in all of them: nothing lost and nothing twice. */
const others = [
  await killAll({ name: 'unaligned', unaligned: true, state }, some, seed + 2),
  await killAll({ name: 'loops', shape: 'loop', state }, some, seed + 3),
  ...(backend === undefined
    ? [
        await killAll({ name: 'changelog', state: 'changelog' }, some, seed + 4),
        await killAll({ name: 'rocksdb', state: 'rocksdb' }, some, seed + 5),
      ]
    : []),
];
/** Goes on from folders of checkpoints that are older than its output, so it repeats some of that. */
const goingBack = await killAll({ name: 'going back', allowDuplicates: true, state }, some, seed + 6);
const atLeast = await killAll({ name: 'at-least-once', mode: 'at-least-once', state }, some, seed + 1);
histogram(exactly.kills);
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
for (const { name, kills: killed, lost, duplicated } of others)
  console.log(`e2e ${name}: ${String(killed.length)} kills, ${String(lost)} lost, ${String(duplicated)} duplicated`);
console.log(
  `e2e going back: ${String(goingBack.kills.length)} kills, ${String(goingBack.lost)} lost, ${String(goingBack.putBack)} starts from a backup`,
);
console.log(`e2e at-least-once: ${String(atLeast.kills.length)} kills, ${String(atLeast.lost)} lost`);

const { moved, putBack, refused } = exactly;
console.log(
  `  ${String(moved)} starts with another output folder; ${String(putBack)} from a backup, of which ${String(refused)} were refused`,
);
const isOutputTried = (kills < FEWEST_FOR_SHARES || moved > 0) && (kills < FEWEST_FOR_REFUSALS || refused > 0);
if (!isOutputTried) console.log('no start had another output folder, or none from a backup was refused');
const isSpread = isWellSpread(exactly.kills);
console.log(
  `e2e: ${String(exactly.kills.length)} kills, ${String(exactly.lost)} lost, ${String(exactly.duplicated)} duplicated`,
);
process.exitCode =
  [exactly, ...others].every(({ lost, duplicated }) => lost + duplicated === 0) &&
  atLeast.lost === 0 &&
  exactly.kills.length === kills &&
  goingBack.lost === 0 &&
  isOutputTried &&
  isSpread
    ? 0
    : 1;

type State = KillJobOptions['state'];
/** Jobs that are alike in all but their parallelism. */
type Kind = Partial<Pick<KillJobOptions, 'mode' | 'unaligned' | 'shape' | 'allowDuplicates'>> & {
  readonly name: string;
  readonly state: State;
};

/** Job after job, two at a time, over parallelism 1, 2, 4 and changing ones, until exactly `count` processes were killed. */
async function killAll(
  { name, ...kind }: Kind,
  count: number,
  seedOfKind: number,
): Promise<RunResult & { readonly name: string }> {
  const all: KillRecord[] = [];
  let lost = 0;
  let duplicated = 0;
  let [moved, putBack, refused] = [0, 0, 0];
  let reserved = 0;
  let run = 0;
  const lane = async (): Promise<void> => {
    while (reserved < count) {
      const atMost = Math.min(20, count - reserved);
      reserved += atMost;
      const number = run++;
      const parallelism = parallelismOf(number);
      const result = await killRun(
        { mode: 'exactly-once', unaligned: false, ...kind, parallelism },
        atMost,
        seededRandom(seedOfKind * 1_000_003 + number),
      );
      // A job that finished before it was killed that often gives back what is left.
      reserved -= atMost - result.kills.length;
      all.push(...result.kills);
      lost += result.lost;
      duplicated += result.duplicated;
      moved += result.moved;
      putBack += result.putBack;
      refused += result.refused;
      console.log(
        `${name} job ${String(number + 1)} (parallelism ${String(parallelism)}): ${String(result.kills.length)} kills, ` +
          `${String(result.lost)} lost, ${String(result.duplicated)} duplicated; ${String(all.length)} of ${String(count)}`,
      );
    }
  };
  await Promise.all([lane(), lane()]);
  return { name, kills: all, lost, duplicated, moved, putBack, refused };
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
