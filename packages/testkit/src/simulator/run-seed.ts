import type { JobEnd } from '@weir/core';
import { isWeirError, type Random } from '@weir/core/contracts';
import { seededRandom } from '../seeded-random.js';
import { compareOutput } from './compare.js';
import type { FaultCounts } from './fault-classes.js';
import { drawProfile } from './fault-profile.js';
import { Faults } from './faults.js';
import { describeEnd, runProcess, type ProcessEnd, type ProcessReport } from './process.js';
import type { MakeSimulatedJob, SimulatedJob } from './simulated-job.js';
import { Operations } from './operations.js';
import { OutsideWork } from './outside-work.js';
import { isSimulated } from './simulated-fault.js';
import type { OutsideWorld } from './simulated-plugins.js';
import { NO_TRACE, type Trace } from './trace.js';
import { Watch } from './watch.js';

export interface SeedReport {
  readonly seed: number;
  /** What is wrong; undefined: nothing. */
  readonly problem: string | undefined;
  readonly faults: FaultCounts;
  /** Attempts that began from a checkpoint. */
  readonly restores: number;
  readonly checkpoints: number;
  /** Acknowledged captures that held in-flight elements. */
  readonly inFlight: number;
  /** The same with elements on their way round a loop. */
  readonly loops: number;
  /** That completed, those to stop with not among them. */
  readonly savepoints: number;
  readonly stops: number;
  readonly processes: number;
  readonly steps: number;
}

/** From this process on nothing goes wrong any more: what has not finished then has been given every chance. */
const FIRST_CALM_PROCESS = 12;
/** Beyond so many processes the job does not come to its end. */
const MOST_PROCESSES = 24;
const STARTED_AGAIN = 0.1;
const FEWEST_MOST_STEPS = 100_000;
const LONGEST_DOWNTIME_MS = 1000;
const START = 1_700_000_000_000;

/** Errors that slowness alone brings about. A lock that was given without an answer keeps its process from asking again. */
const OF_SLOWNESS = [
  'CHECKPOINT_TOLERANCE_EXCEEDED',
  'CANCELLATION_TIMEOUT',
  'STORAGE_FENCED',
  'STORAGE_LOCKED',
  'CALL_TIMED_OUT',
] as const;
/** Errors that only say what an error has led to. */
const WRAPPERS = ['RESTART_SUPPRESSED', 'STOP_FAILED'] as const;

/**
 * One job through everything that `seed` has in store for it: first without faults, for the output that is right, then with them, process after
 * process on what the ones before have stored, until it has finished. The same seed gives the same run, step by step.
 */
export async function runSeed(make: MakeSimulatedJob, seed: number, trace: Trace = NO_TRACE): Promise<SeedReport> {
  const calm = await runCalmly(make, seed);
  if (calm.problem !== undefined) return { ...calm.numbers, seed, problem: `without any fault: ${calm.problem}` };

  const job = make(stream(seed, 'job'), seed);
  const random = stream(seed, 'faults');
  const world = worldWith(new Faults(random, drawProfile(random), trace));
  const { faults, watch } = world;
  const operations = new Operations(random, job.savepointDirectory);
  const mostSteps = Math.max(FEWEST_MOST_STEPS, calm.numbers.steps * 20);
  let steps = 0;
  let startsAt = START;
  let processes = 0;
  let parallelism = drawParallelism(job, random);
  // Now and then it is started once more when it has finished, and must leave everything as it is.
  let starts = random() < STARTED_AGAIN ? 2 : 1;
  let problem: string | undefined;
  for (;;) {
    if (++processes >= FIRST_CALM_PROCESS) faults.calm();
    const report = await runProcess({
      number: processes,
      job,
      world,
      operations,
      parallelism,
      clockRandom: stream(seed, `clock ${String(processes)}`),
      jobRandom: stream(seed, `chance ${String(processes)}`),
      observerRandom: stream(seed, `observers ${String(processes)}`),
      startsAt,
      usualSteps: calm.numbers.steps,
      usualMs: calm.ms,
      mostSteps,
      trace,
    });
    steps += report.steps;
    startsAt = report.endedAt + random() * LONGEST_DOWNTIME_MS;
    problem = problemOf(report.end, watch, operations);
    if (isFinished(report.end)) starts--;
    if (problem !== undefined || starts === 0) break;
    if (processes >= MOST_PROCESSES) {
      problem = `it has not finished after ${String(processes)} processes; the last: ${describeEnd(report.end)}`;
      break;
    }
    if (report.end.kind === 'killed') job.processDied?.();
    const next = drawParallelism(job, random);
    if (next !== parallelism) faults.count('rescale', `from parallelism ${String(parallelism)} to ${String(next)}`);
    parallelism = next;
  }
  problem ??= compareOutput(job.output(), calm.output, job.guarantee ?? 'exactly-once');
  if (problem !== undefined) trace.add(() => `PROBLEM ${problem}`);
  return { ...numbersOf(world, processes, steps), seed, problem };
}

async function runCalmly(
  make: MakeSimulatedJob,
  seed: number,
): Promise<{
  readonly problem: string | undefined;
  readonly output: readonly unknown[];
  readonly ms: number;
  readonly numbers: Omit<SeedReport, 'seed' | 'problem'>;
}> {
  const job = make(stream(seed, 'job'), seed);
  const random = stream(seed, 'calm');
  const world = worldWith(new Faults(random, undefined, NO_TRACE));
  const report: ProcessReport = await runProcess({
    number: 0,
    job,
    world,
    operations: new Operations(() => 1, undefined),
    parallelism: drawParallelism(job, random),
    clockRandom: stream(seed, 'calm clock'),
    jobRandom: stream(seed, 'calm chance'),
    observerRandom: stream(seed, 'calm observers'),
    startsAt: START,
    usualSteps: 0,
    usualMs: 0,
    mostSteps: FEWEST_MOST_STEPS * 10,
    trace: NO_TRACE,
  });
  const problem =
    problemOf(report.end, world.watch, undefined) ?? (isFinished(report.end) ? undefined : describeEnd(report.end));
  return { problem, output: [...job.output()], ms: report.endedAt - START, numbers: numbersOf(world, 1, report.steps) };
}

function worldWith(faults: Faults): OutsideWorld {
  return { faults, watch: new Watch(), network: new Set(), outside: new OutsideWork(), storages: new Map() };
}

function numbersOf(
  { faults, watch }: OutsideWorld,
  processes: number,
  steps: number,
): Omit<SeedReport, 'seed' | 'problem'> {
  const { restores, completed: checkpoints, inFlight, loops, savepoints, stops } = watch;
  return { faults: { ...faults.counts }, restores, checkpoints, inFlight, loops, savepoints, stops, processes, steps };
}

/** What no fault excuses. */
function problemOf(end: ProcessEnd, { violations }: Watch, operations: Operations | undefined): string | undefined {
  const [violation] = violations;
  if (violation !== undefined) return violation;
  switch (end.kind) {
    case 'stuck':
    case 'broken':
      return describeEnd(end);
    case 'failed':
      return isSimulated(end.error) ||
        isOfParallelism(end.error) ||
        OF_SLOWNESS.some((code) => isCausedBy(end.error, code))
        ? undefined
        : describeEnd(end);
    case 'ended':
      return isFinished(end) || isAsked(end.end, operations) ? undefined : describeEnd(end);
    case 'killed':
      return undefined;
  }
}

/** Asked to stop it may still be asked to be suspended before it has. */
function isAsked(end: JobEnd, operations: Operations | undefined): boolean {
  return operations?.stopping !== undefined && (end === 'stopped' || end === 'cancelled');
}

function isFinished(end: ProcessEnd): boolean {
  return end.kind === 'ended' && end.end === 'finished';
}

/** Another parallelism has put what had finished into one stage with what had not; the next process may have the one that it was. */
function isOfParallelism(error: unknown): boolean {
  return (
    isWeirError(error, 'CHECKPOINT_INCOMPATIBLE') &&
    error.message.includes('start them at the parallelism that they had')
  );
}

function isCausedBy(error: unknown, code: (typeof OF_SLOWNESS)[number]): boolean {
  if (isWeirError(error, code)) return true;
  return WRAPPERS.some((wrapper) => isWeirError(error, wrapper) && isCausedBy(error.cause, code));
}

function drawParallelism({ parallelism = 1 }: SimulatedJob, random: Random): number {
  if (typeof parallelism === 'number') return parallelism;
  return parallelism[Math.floor(random() * parallelism.length)] ?? 1;
}

/** Chance for one purpose: what one purpose takes does not move what the others get. */
function stream(seed: number, purpose: string): Random {
  let hash = Math.imul(seed, 0x9e3779b1) ^ 0x85ebca6b;
  for (let i = 0; i < purpose.length; i++) hash = Math.imul(hash ^ purpose.charCodeAt(i), 0x01000193);
  return seededRandom(hash);
}
