import { setTimeout as sleep } from 'node:timers/promises';
import { startJob, type BenchmarkJobOptions } from './job.js';
import { Stopwatch, type Rate } from './rate.js';

/** What happened in a steady window of a running job. */
export interface WindowResult extends Rate {
  readonly checkpointsCompleted: number;
  readonly bytesWritten: number;
}

/** Shortest window, and fewest checkpoints in it, for a figure with checkpoints to count. */
export const WINDOW_MS = 10_000;
export const FEWEST_CHECKPOINTS = 10;
const CHECKPOINT_EVERY_MS = 1000;
/** The tenth checkpoint of a window needs the time that the first one was late. */
const SLACK_MS = 600;

/** Runs the job until every key was seen, then measures it for one window. */
export async function measureWindow(
  options: Omit<BenchmarkJobOptions, 'count' | 'checkpointsDir' | 'onWrite'>,
  checkpoints: boolean,
  ms: number = WINDOW_MS + SLACK_MS,
): Promise<WindowResult> {
  await using job = await startJob({
    ...options,
    checkpointEveryMs: checkpoints ? (options.checkpointEveryMs ?? CHECKPOINT_EVERY_MS) : undefined,
  });
  while (job.counts.read < options.records.length * 1.5) await sleep(20);
  const stopwatch = new Stopwatch();
  const readBefore = job.counts.read;
  const completedBefore = job.checkpoints.length;
  await sleep(ms);
  const rate = stopwatch.rate(job.counts.read - readBefore);
  const inWindow = job.checkpoints.slice(completedBefore);
  return {
    ...rate,
    checkpointsCompleted: inWindow.length,
    bytesWritten: inWindow.reduce((sum, { stateBytes }) => sum + stateBytes, 0),
  };
}

/** Measures a window with checkpoints, and keeps it: of each figure with checkpoints it is said how many there were. */
export async function measureInto(
  windows: WindowResult[],
  options: Parameters<typeof measureWindow>[0],
  ms?: number,
): Promise<WindowResult> {
  const window = await measureWindow(options, true, ms);
  windows.push(window);
  return window;
}
