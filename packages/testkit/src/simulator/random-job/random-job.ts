import type { CheckpointOptions } from '@weir/core';
import type { Random } from '@weir/core/contracts';
import { seededRandom } from '../../seeded-random.js';
import { transactionalMemorySink, type TransactionalMemorySink } from '../../job-parts/transactional-memory-sink.js';
import type { MakeSimulatedJob, SimulatedJob } from '../simulated-job.js';
import type { Item } from './item.js';
import { describeRandomGraph } from './random-graph.js';

/** What random jobs run on, made anew for each run. */
export interface Surroundings extends Pick<SimulatedJob, 'plugins' | 'processDied' | 'savepointDirectory'> {
  /** The state backend captures incrementally, and the storage keeps files that checkpoints have in common: half of the jobs ask for it. */
  readonly incremental?: boolean | undefined;
}

/**
 * Jobs of every shape, for those who prove a state backend, a checkpoint storage or a coordinator rather than a job: chains, fan-out, unions, joins
 * and keyed state of every kind, at several parallelisms, with settings of every kind. `surroundings` makes what is to be proved.
 */
export function randomJobs(surroundings: (random: Random) => Surroundings): MakeSimulatedJob {
  return (random) => {
    const graph = Math.floor(random() * 2 ** 31);
    const { incremental = false, ...around } = surroundings(seededRandom(Math.floor(random() * 2 ** 31)));
    const mode = random() < 0.3 ? 'at-least-once' : 'exactly-once';
    const checkpoints = drawCheckpoints(random, mode);
    const interval = 10 + Math.floor(random() * 40);
    // Half of them are rescaled from process to process.
    const parallelism = random() < 0.5 ? [1, 2, 3] : 1 + Math.floor(random() * 3);
    const sinks: TransactionalMemorySink<Item>[] = [];
    return {
      ...around,
      parallelism,
      maxParallelism: [4, 16, 128][Math.floor(random() * 3)],
      guarantee: mode,
      describe(env, simulation) {
        env.enableCheckpointing(interval, { ...checkpoints, incremental: incremental && graph % 2 === 0 });
        describeRandomGraph({
          env,
          simulation,
          random: seededRandom(graph),
          sinks: (i) => (sinks[i] ??= transactionalMemorySink<Item>()),
        });
      },
      output: () =>
        sinks.flatMap(({ visible }, i) => visible.map(({ id, key }) => `${String(i)} ${id} ${String(key)}`)),
    };
  };
}

function drawCheckpoints(random: Random, mode: CheckpointOptions['mode']): CheckpointOptions {
  const concurrent = random();
  // So short that checkpoints expire in the middle, often or now and then: that has to be tolerated.
  const timeout = random() < 0.2 ? 60 : random() < 0.2 ? 200 : '10 min';
  return {
    mode,
    timeout,
    ...(concurrent < 0.6
      ? { maxConcurrent: 1, minPause: random() < 0.3 ? Math.floor(random() * 20) : 0, ...drawOvertaking(random, mode) }
      : { maxConcurrent: concurrent < 0.8 ? 2 : 4 }),
    tolerableFailures:
      typeof timeout === 'number'
        ? Infinity
        : [0, 3, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY][Math.floor(random() * 4)],
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- who still sets it must get what it says
    preferCheckpointForRecovery: random() >= 0.2,
    numRetained: 1 + Math.floor(random() * 3),
  };
}

/** Barriers that overtake, at once or after a while, exclude all but one exactly-once checkpoint at a time. */
function drawOvertaking(random: Random, mode: CheckpointOptions['mode']): CheckpointOptions {
  if (random() < 0.4 || mode !== 'exactly-once') return {};
  return { unaligned: true, alignedTimeout: random() < 0.4 ? 0 : 1 + Math.floor(random() * 30) };
}
