import type { Ratio } from './abba.js';
import { FEWEST_CHECKPOINTS, type WindowResult } from './window.js';
import { median, round, spread } from './statistics.js';

/** One line of the results. */
export interface Figure {
  /** Null: too few checkpoints completed for the figure to mean anything. */
  readonly value: number | null;
  /** What the figure should be at least, or at most. */
  readonly bar?: { readonly atLeast: number } | { readonly atMost: number } | undefined;
  readonly unit: string;
  /** Smallest and largest of the runs. */
  readonly spread?: readonly [number, number] | undefined;
  readonly runs?: number | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** The median over CPU time of the main thread, which the bar is for; that over wall time beside it. */
export function compared(ratios: readonly Ratio[], rest: Omit<Figure, 'value' | 'spread' | 'runs'>): Figure {
  const wall = ratios.map((ratio) => ratio.wall);
  const details = { ...rest.details, wall: round(median(wall)), wall_spread: spread(wall) };
  return paired(
    ratios.map(({ cpu }) => cpu),
    { ...rest, details },
  );
}

/** The median of paired ratios or differences. */
export function paired(values: readonly number[], rest: Omit<Figure, 'value' | 'spread' | 'runs'>): Figure {
  return { value: round(median(values)), spread: spread(values), runs: values.length, ...rest };
}

/** Null instead of a value if any window had too few checkpoints. */
export function withCheckpoints(
  figure: Figure,
  windows: readonly Pick<WindowResult, 'checkpointsCompleted' | 'bytesWritten'>[],
): Figure {
  const checkpoints_completed = Math.min(...windows.map(({ checkpointsCompleted }) => checkpointsCompleted));
  const bytes_written = Math.round(median(windows.map(({ bytesWritten }) => bytesWritten)));
  return {
    ...figure,
    value: checkpoints_completed < FEWEST_CHECKPOINTS ? null : figure.value,
    details: { ...figure.details, checkpoints_completed, bytes_written },
  };
}

export function meets({ value, bar }: Figure): boolean {
  if (bar === undefined) return true;
  if (value === null) return false;
  return 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost;
}
