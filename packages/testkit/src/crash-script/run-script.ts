import { createEnvironment, type PluginList } from '@weir/core';
import { isWeirError, nextTurn, SILENT, type Sink } from '@weir/core/contracts';
import type { Stream } from '@weir/core/operators';
import { transactionalMemorySink } from '../job-parts/transactional-memory-sink.js';
import { requireCheckpoints, withStateBackend } from './given-plugins.js';
import { QuietClock } from './quiet-clock.js';
import type { Script } from './script.js';
import { scriptTime } from './script-time.js';
import { scriptedRestart } from './scripted-restart.js';
import { scriptedSource } from './scripted-source.js';
import { isTimeMark, type TimeMark } from './time-marks.js';

export interface RunOptions<A> {
  /** Event time of a record. */
  readonly timestampOf?: ((record: A) => number) | undefined;
  readonly plugins: PluginList;
  readonly parallelism: number;
  /** `slow`: the sink takes one batch at a time and withdraws demand until the next turn. */
  readonly output: 'ready' | 'slow';
  /** Called with what `build` returned, before the job starts. */
  readonly look?: ((stream: Stream<unknown>) => void) | undefined;
}

let runs = 0;

/** Runs a real job over a script and returns what was committed, in that order. Rejects with what made the job fail. */
export async function runScript<A, B>(
  script: Script<A | TimeMark>,
  build: (stream: Stream<A, 'replayable'>) => Stream<B>,
  { plugins, parallelism, output, look, timestampOf }: RunOptions<A>,
): Promise<readonly B[]> {
  if (script.markers.length > 0) requireCheckpoints(plugins, 'A script with crash()');
  const clock = new QuietClock();
  const env = createEnvironment({ plugins: withStateBackend(plugins), parallelism, logger: SILENT, clock });
  if (script.markers.length > 0) env.enableCheckpointing();

  const source = scriptedSource(script, {
    quiet: () => clock.quiet(),
    // Nothing is read before the job has started.
    checkpoint: async () => (await starting).triggerCheckpoint(),
    elapseTo: (elapsed) => clock.elapseTo(elapsed),
    turnTo: (elapsed) => {
      clock.turnTo(elapsed);
    },
  });
  const items = env.from(source, { uid: 'script' });
  const hasTime = timestampOf !== undefined || script.records.some(isTimeMark);
  // Without marks, all items are records.
  const stream = build(hasTime ? items.pipe(scriptTime(timestampOf)) : (items as Stream<A, 'replayable'>));
  look?.(stream);
  const sink = transactionalMemorySink<B>();
  stream.to(output === 'slow' ? slow(sink) : sink, { uid: 'output' });

  const starting = env.start(`scripted-${String(++runs)}`, { restoreFrom: 'none', restart: scriptedRestart });
  const { done } = await starting;
  try {
    await done;
  } catch (error) {
    // That no failure but a scripted one is repeated is this harness's own doing.
    throw isWeirError(error, 'RESTART_SUPPRESSED') ? error.cause : error;
  }
  return sink.visible;
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
