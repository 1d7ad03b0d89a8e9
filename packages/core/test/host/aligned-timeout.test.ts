import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { sleep, type Clock } from '../../src/contracts/clock.js';
import { BATCH_SIZE } from '../../src/element/element.js';
import {
  broadcast,
  filter,
  flatMap,
  iterate,
  keyBy,
  map,
  rebalance,
  scan,
  transform,
  union,
  type Operator,
} from '../../src/operators.js';
import type { Stream } from '../../src/graph/stream.js';
import { AttemptBench, plan, type TakenCheckpoint } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred, type Deferred } from '../support/deferred.js';
import { slowly } from '../support/slow-operator.js';
import { passOn, SlowJob, upTo, WRITE_MS, type Numbers, type SlowJobOptions } from '../support/slow-job.js';
import { splitSource } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

type Between = (s: Numbers, clock: Clock) => Numbers;

/** Ms from the trigger of a checkpoint, in a job that has filled its channels by then, to its last acknowledgement. */
async function duration(between: Between, overtakesAfter: number | undefined, options: SlowJobOptions): Promise<number> {
  const job: SlowJob = new SlowJob((s) => between(s, job.clock), { count: 150_000, ...options, overtakesAfter });
  const bench = await job.attempt();
  await job.clock.advance(50 * WRITE_MS);
  const checkpoint = await bench.trigger(1);
  const triggered = job.clock.now();
  await job.clock.until(() => checkpoint.isComplete);
  const took = job.clock.now() - triggered;
  await job.crash(bench);
  return took;
}

/** One subtask takes its time, so its barrier is late; it is forced into line in front of it, because the source runs once. */
const lateProducer = (ms: number): Between => (s, clock) =>
  s.pipe(
    slowly(clock, (subtask) => (subtask === 0 ? ms : 0), 'late'),
    rebalance(),
    passOn,
  );
const looped: Between = (s) =>
  s.pipe(
    iterate(
      (rounds: Stream<number, 'replayable'>) => {
        const gone = rounds.pipe(
          keyBy((n: number) => n % 7),
          scan((_last: number, n: number) => n, () => 0, { uid: 'round' }),
        );
        return { feedback: gone.pipe(filter((n) => n < 0)), output: gone };
      },
      { uid: 'loop' },
    ),
    rebalance(),
    passOn,
  );

const SHAPES: readonly (readonly [string, Between, SlowJobOptions])[] = [
  ['a chain that a change of parallelism and an exchange divide in three', (s) => s.pipe(passOn, rebalance(), passOn), { parallelism: 2 }],
  ['several hops', (s) => s.pipe(passOn, rebalance(), passOn, rebalance(), passOn, rebalance(), passOn), { parallelism: 2 }],
  ['four subtasks each', (s) => s.pipe(passOn, rebalance(), passOn, keyBy((n: number) => n), scan((_l: number, n: number) => n, () => 0), rebalance(), passOn), { parallelism: 4 }],
  ['one producer that is late by one batch', lateProducer(3 * WRITE_MS), { parallelism: 2 }],
  ['one producer that is late by several batches', lateProducer(WRITE_MS), { parallelism: 3 }],
  ['edges that force barriers into line on the way', (s) => s.pipe(rebalance(), passOn, union(s.pipe(rebalance(), passOn)), map((n) => n), rebalance(), passOn), { parallelism: 2 }],
  ['a broadcast on the way', (s) => s.pipe(rebalance(), passOn, broadcast(), passOn, rebalance(), passOn), { parallelism: 2 }],
  ['a loop on the way', looped, { parallelism: 2 }],
  [
    'stages that are suspended in the middle of a batch',
    (s) => s.pipe(rebalance(), flatMap((n) => Array.from({ length: 20 }, () => n)), rebalance(), flatMap((n) => [n, n, n]), rebalance(), passOn),
    { parallelism: 2 },
  ],
];

describe.each(SHAPES)('a checkpoint over %s', (_shape, between, options) => {
  test('takes as long after its timeout as one that overtakes at once, and no longer than an aligned one before', async () => {
    const atOnce = await duration(between, 0, options);
    const aligned = await duration(between, undefined, options);
    for (const timeout of [0.5, 1.5, 4].map((writes) => writes * WRITE_MS)) {
      const took = await duration(between, timeout, options);
      process.stderr.write(`RES ${_shape} ${timeout} ${took} ${atOnce} ${aligned}\n`);
      expect([timeout, took]).toEqual([timeout, Math.min(took, timeout + atOnce + WRITE_MS)]);
    }
  }, 60_000);
});
