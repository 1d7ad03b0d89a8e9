import type { PluginList } from '@weir/core';
import type { Stream } from '@weir/core/operators';
import type { Crash } from './crash.js';
import { runScript } from './run-script.js';
import { readInput, withCheckpoints } from './script.js';
import type { TimeMark } from './time-marks.js';

export interface RunOperatorOptions<A = never> {
  /** Event time of a record, for scripts with `watermark()`. */
  readonly timestampOf?: ((record: A) => number) | undefined;
  /** For scripts with `crash()`: at least a coordinator and a checkpoint storage. Without a state backend the reference one is used. */
  readonly plugins?: PluginList | undefined;
  /** Of the whole job. Default 1, at which the order of the output is that of the run. */
  readonly parallelism?: number | undefined;
  /** Records between the last checkpoint and each crash, which are read again. Default 1; Infinity: no checkpoint, so all are. */
  readonly replayed?: number | undefined;
}

/**
 * Runs a real job over `input` and returns what was committed exactly once, in the order of the commits. At each `crash()` the job dies the first
 * time it gets there, after everything before has been worked on, and carries on from a checkpoint taken `replayed` records earlier.
 *
 * Rejects with PLUGIN_MISSING if a script with `crash()` gets no plugins for checkpoints, and with whatever else made the job fail.
 */
export async function runOperator<A, B>(
  input: readonly (A | Crash | TimeMark)[],
  build: (stream: Stream<A, 'replayable'>) => Stream<B>,
  { plugins = [], parallelism = 1, replayed = 1, timestampOf }: RunOperatorOptions<A> = {},
): Promise<readonly B[]> {
  const { records, crashes } = readInput(input);
  const script = { records, markers: withCheckpoints(crashes, replayed), pace: 'all-at-once' } as const;
  return runScript(script, build, { plugins, parallelism: [parallelism], output: 'ready', timestampOf });
}
