import { createEnvironment, type JobHandle, type PluginList } from '@weir/core';
import { isWeirError, nextTurn, SILENT, type Sink } from '@weir/core/contracts';
import type { Stream } from '@weir/core/operators';
import { transactionalMemorySink } from '../job-parts/transactional-memory-sink.js';
import { requireCheckpoints, withStateBackend } from './given-plugins.js';
import { QuietClock } from './quiet-clock.js';
import type { Script } from './script.js';
import { scriptTime } from './script-time.js';
import { scriptedRestart } from './scripted-restart.js';
import { scriptedSource } from './scripted-source.js';
import { sharingStorage } from './shared-storage.js';
import { isTimeMark, type TimeMark } from './time-marks.js';

export interface RunOptions<A> {
  /** Event time of a record. */
  readonly timestampOf?: ((record: A) => number) | undefined;
  readonly plugins: PluginList;
  /** Of the first process, the second, and so on; when they are used up, again from the first. */
  readonly parallelism: readonly [number, ...number[]];
  /** `slow`: the sink takes one batch at a time and withdraws demand until the next turn. */
  readonly output: 'ready' | 'slow';
  /** Called with what `build` returned, before the job starts. */
  readonly look?: ((stream: Stream<unknown>) => void) | undefined;
}

let runs = 0;

/**
 * Runs a real job over a script and returns what was committed, in that order. At each `stop` the job is left and described anew, at the next
 * parallelism, over the same checkpoints. Rejects with what made the job fail.
 */
export async function runScript<A, B>(
  script: Script<A | TimeMark>,
  build: (stream: Stream<A, 'replayable'>) => Stream<B>,
  options: RunOptions<A>,
): Promise<readonly B[]> {
  const { parallelism, output, look, timestampOf } = options;
  if (script.markers.length > 0) requireCheckpoints(options.plugins, 'A script with crash()');
  const plugins = sharingStorage(withStateBackend(options.plugins));
  const clock = new QuietClock();
  const name = `scripted-${String(++runs)}`;
  let starting: Promise<JobHandle> | undefined;
  let process = new AbortController();
  const source = scriptedSource(script, {
    quiet: () => clock.quiet(),
    // Nothing is read before the job has started.
    checkpoint: async () => (await starting)?.triggerCheckpoint(),
    stop: () => {
      process.abort();
    },
    elapseTo: (elapsed) => clock.elapseTo(elapsed),
    turnTo: (elapsed) => {
      clock.turnTo(elapsed);
    },
  });
  const hasTime = timestampOf !== undefined || script.records.some(isTimeMark);
  const sink = transactionalMemorySink<B>();

  for (let number = 0; ; number++) {
    const width = parallelism[number % parallelism.length] as number;
    const env = createEnvironment({ plugins, parallelism: width, logger: SILENT, clock });
    if (script.markers.length > 0) env.enableCheckpointing();
    const items = env.from(source, { uid: 'script' });
    // Without marks, all items are records.
    const stream = build(hasTime ? items.pipe(scriptTime(timestampOf)) : (items as Stream<A, 'replayable'>));
    look?.(stream);
    stream.to(output === 'slow' ? slow(sink) : sink, { uid: 'output' });

    process = new AbortController();
    const restoreFrom = number === 0 ? 'none' : 'auto';
    starting = env.start(name, { restoreFrom, restart: scriptedRestart, signal: process.signal });
    const { done } = await starting;
    try {
      if ((await done) === 'finished') return sink.visible;
    } catch (error) {
      // That no failure but a scripted one is repeated is this harness's own doing.
      throw isWeirError(error, 'RESTART_SUPPRESSED') ? error.cause : error;
    }
  }
}

function slow<T>(sink: Sink<T, 'exactly-once', number>): Sink<T, 'exactly-once', number> {
  return {
    ...sink,
    async open(context) {
      const writer = await sink.open(context);
      return {
        ...writer,
        async write(batch) {
          await writer.write(batch);
          await nextTurn(context.clock);
        },
      };
    },
  };
}
