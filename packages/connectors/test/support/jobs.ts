import { createEnvironment, exponentialDelayRestart, noRestart, type Environment, type JobEvent } from '@weir/core';
import { SILENT } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';

export interface Run {
  readonly clock: VirtualClock;
  readonly env: Environment;
  /** What was thrown or rejected by the end of the job that `describe` describes, or how it ended. */
  readonly outcome: Promise<unknown>;
  readonly events: readonly JobEvent[];
  readonly cancel: () => void;
}

export const RESTART_DELAY_MS = 1000;

/** Starts the job that `describe` describes on a virtual clock. With `restarts` a failure is followed by a new attempt, 1 s later at first. */
export async function runJob(
  describe: (env: Environment) => void,
  { restarts = true, parallelism = 1 }: { readonly restarts?: boolean; readonly parallelism?: number } = {},
): Promise<Run> {
  const clock = new VirtualClock();
  const plugin = restarts
    ? exponentialDelayRestart({ jitterFactor: 0, initialBackoff: RESTART_DELAY_MS })
    : noRestart();
  const env = createEnvironment({ plugins: [plugin], clock, random: () => 0.5, logger: SILENT, parallelism });
  describe(env);
  const job = await env.start('job');
  const events: JobEvent[] = [];
  job.events$.subscribe((event) => events.push(event));
  return { clock, env, outcome: job.done.catch((error: unknown) => error), events, cancel: () => void job.cancel() };
}

/** Writes into an array. */
export function into<T>(out: T[]): {
  grade: 'at-least-once';
  open(): { write(batch: readonly T[]): void; close(): void };
} {
  return {
    grade: 'at-least-once',
    open: () => ({
      write: (batch) => {
        out.push(...batch);
      },
      close: () => undefined,
    }),
  };
}
