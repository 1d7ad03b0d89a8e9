import { readFileSync } from 'node:fs';

/** How many records a program moves. Where the machine drifts or is shared, only the second figure shows small differences. */
export interface Rate {
  readonly recordsPerSecond: number;
  /** Per second that the main thread computes: what other threads of the process do does not count. */
  readonly recordsPerCpuSecond: number;
}

/** Wall time and CPU time of the main thread from now on. */
export class Stopwatch {
  readonly #wall = performance.now();
  readonly #cpu = mainThreadSeconds();

  rate(records: number): Rate {
    return {
      recordsPerSecond: records / ((performance.now() - this.#wall) / 1000),
      recordsPerCpuSecond: records / (mainThreadSeconds() - this.#cpu),
    };
  }
}

/** From the scheduler of Linux; where there is none, CPU time of the process with all its threads. */
export function mainThreadSeconds(): number {
  try {
    // The first number: nanoseconds on a CPU. The first thread of a process has the id of the process.
    const [nanoseconds] = readFileSync(`/proc/self/task/${String(process.pid)}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e9;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
