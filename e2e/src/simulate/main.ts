import { parseArgs } from 'node:util';
import { FAULT_CLASSES, runSeed, simulate, type SimulationReport } from '@weir/testkit';
import { BACKENDS, jobsOn, type Backend } from './jobs.js';
import { killMutants } from './kill-mutants.js';

const LEAST_RESTORED = 0.9;
/** Below this many seeds it says little that something did not happen. */
const FEWEST_FOR_SHARES = 200;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string' },
    backend: { type: 'string', default: 'memory' },
  },
});
const jobs = jobsOn(backendOf(values.backend));
if (values.seed !== undefined) await replay(number('seed', values.seed), values.trace);
else if (values.mutants) await mutants(number('seeds', values.seeds ?? '200'), values.only);
else await search(number('seeds', values.seeds ?? '500'), number('from', values.from));

async function search(seeds: number, from: number): Promise<void> {
  const started = performance.now();
  console.log(`simulating seeds ${String(from)} to ${String(from + seeds - 1)}`);
  const report = await simulate(jobs, {
    seeds,
    from,
    onSeed({ seed, problem }) {
      if (problem !== undefined)
        console.log(
          `seed ${String(seed)}: ${problem}\n  replay it: npm run simulate -- --seed ${String(seed)} --trace`,
        );
      else if ((seed - from + 1) % 500 === 0) console.log(`${String(seed - from + 1)} seeds`);
    },
  });
  const gaps = print(report, performance.now() - started);
  for (const gap of gaps) console.log(gap);
  console.log(`simulate: ${String(report.seeds)} seeds, ${String(report.failures.length)} failures`);
  process.exitCode = report.failures.length === 0 && gaps.length === 0 ? 0 : 1;
}

/** Shows what happened, and returns what should have and has not. */
function print(report: SimulationReport, ms: number): readonly string[] {
  const { seeds, faults, restores, checkpoints, savepoints, stops, inFlight, loops, processes, restored } = report;
  const rows: readonly (readonly [string, number])[] = [
    ...FAULT_CLASSES.map((name) => [name, faults[name]] as const),
    ['restores', restores],
    ['checkpoints', checkpoints],
    ['savepoints', savepoints],
    ['stops with one', stops],
    ['processes', processes],
    ['in-flight captures', inFlight],
    ['loops in captures', loops],
  ];
  for (const [name, count] of rows) console.log(`  ${name.padEnd(20)} ${String(count).padStart(9)}`);
  console.log(`  ${(restored * 100).toFixed(1)} % of the seeds restored a checkpoint`);
  console.log(`  ${(ms / 1000).toFixed(1)} s, ${(ms / Math.max(1, seeds)).toFixed(0)} ms each`);
  if (seeds < FEWEST_FOR_SHARES) return [];
  return [
    ...FAULT_CLASSES.filter((name) => faults[name] === 0).map((name) => `no ${name} has happened`),
    ...(savepoints === 0 || stops === 0 ? ['no savepoint was taken, or no job stopped with one'] : []),
    ...(loops === 0 ? ['no checkpoint held elements on their way round a loop'] : []),
    ...(inFlight === 0 ? ['no checkpoint held in-flight elements'] : []),
    ...(restored < LEAST_RESTORED ? ['fewer than 90 % of the seeds restored a checkpoint'] : []),
  ];
}

async function replay(seed: number, traced: boolean): Promise<void> {
  const { problem, faults, restores, processes, steps } = await runSeed(
    jobs,
    seed,
    traced
      ? {
          add: (line) => {
            console.log(line());
          },
        }
      : undefined,
  );
  console.log(
    `seed ${String(seed)}: ${problem ?? 'passed'}; ${String(processes)} processes, ${String(restores)} restores, ${String(steps)} steps; ` +
      FAULT_CLASSES.filter((name) => faults[name] > 0)
        .map((name) => `${String(faults[name])} ${name}`)
        .join(', '),
  );
  process.exitCode = problem === undefined ? 0 : 1;
}

async function mutants(seeds: number, only: string | undefined): Promise<void> {
  const results = await killMutants(seeds, only, ({ mutant, seed, problem }) => {
    console.log(
      seed === undefined
        ? `${mutant.name.padEnd(52)} SURVIVED ${String(seeds)} seeds`
        : `${mutant.name.padEnd(52)} killed by seed ${String(seed).padStart(3)}: ${problem.split('\n')[0]?.slice(0, 100) ?? ''}`,
    );
  });
  const survivors = results.filter(({ seed }) => seed === undefined).length;
  console.log(`simulate: ${String(results.length)} mutants, ${String(survivors)} survived`);
  process.exitCode = survivors === 0 ? 0 : 1;
}

function backendOf(name: string): Backend {
  const found = BACKENDS.find((backend) => backend === name);
  if (found !== undefined) return found;
  console.error(`--backend must be ${BACKENDS.join(' or ')}, not ${name}.`);
  process.exit(2);
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(
    `--${name} must be a whole number, not ${text}.\n` +
      'usage: npm run simulate -- [--seeds <count>] [--from <seed>] | --seed <number> [--trace] | --mutants [--seeds <count>] [--only <name>]',
  );
  process.exit(2);
}
