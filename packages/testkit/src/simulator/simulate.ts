import { FAULT_CLASSES, noFaults, type FaultCounts } from './fault-classes.js';
import { runSeed, type SeedReport } from './run-seed.js';
import type { MakeSimulatedJob } from './simulated-job.js';

export interface SimulateOptions {
  /** How many seeds. */
  readonly seeds: number;
  /** The first one. Default 1. */
  readonly from?: number | undefined;
  /** Called after each. */
  readonly onSeed?: ((report: SeedReport) => void) | undefined;
  /** Ends the search after so many seeds that failed. Default 10. */
  readonly mostFailures?: number | undefined;
}

export interface SimulationReport {
  readonly seeds: number;
  readonly failures: readonly SeedReport[];
  /** Sums over all seeds. */
  readonly faults: FaultCounts;
  readonly restores: number;
  readonly checkpoints: number;
  readonly inFlight: number;
  readonly loops: number;
  readonly savepoints: number;
  readonly stops: number;
  readonly processes: number;
  /** The share of seeds in which the job was restored from a checkpoint at least once. */
  readonly restored: number;
}

/**
 * Searches for faults in the job that `make` makes and in the plugins it brings: one run after the other, each with a schedule and with faults of
 * its own, compared with a run that never failed. Never rejects for what a job does; look at `failures`. {@link runSeed} replays one.
 */
export async function simulate(
  make: MakeSimulatedJob,
  { seeds, from = 1, onSeed, mostFailures = 10 }: SimulateOptions,
): Promise<SimulationReport> {
  const faults = noFaults();
  const failures: SeedReport[] = [];
  const sums = { restores: 0, checkpoints: 0, inFlight: 0, loops: 0, savepoints: 0, stops: 0, processes: 0 };
  let run = 0;
  let withRestore = 0;
  for (; run < seeds && failures.length < mostFailures; run++) {
    const report = await runSeed(make, from + run);
    for (const name of FAULT_CLASSES) faults[name] += report.faults[name];
    sums.restores += report.restores;
    sums.checkpoints += report.checkpoints;
    sums.inFlight += report.inFlight;
    sums.loops += report.loops;
    sums.savepoints += report.savepoints;
    sums.stops += report.stops;
    sums.processes += report.processes;
    if (report.restores > 0) withRestore++;
    if (report.problem !== undefined) failures.push(report);
    onSeed?.(report);
  }
  return { seeds: run, failures, faults, ...sums, restored: run === 0 ? 0 : withRestore / run };
}
