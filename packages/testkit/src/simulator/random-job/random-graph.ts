import type { Environment } from '@weir/core';
import type { Random } from '@weir/core/contracts';
import { filter, flatMap, map, rebalance, union } from '@weir/core/operators';
import type { TransactionalMemorySink } from '../../job-parts/transactional-memory-sink.js';
import type { Simulation } from '../simulated-job.js';
import { numberOf, type Item } from './item.js';
import { collect, COLLECTED, count, delay, join, mark, reduce, type Items, type KeyedOptions } from './keyed-steps.js';
import { late } from './late-step.js';
import { loop } from './loop-step.js';
import { gather, hold, type TimedOptions } from './time-steps.js';
import { pacedSource } from './paced-source.js';
import { slowSink } from './slow-sink.js';

/** A stream of the graph that is being built, and about how many records it has. */
interface Open {
  readonly items: Items;
  readonly records: number;
  /** And about how many keys these are spread over. */
  readonly spread: number;
  /** Some come only when event time is over, too late to wait for a time in it. */
  readonly isLate: boolean;
}

/** Beyond it nothing is multiplied. */
const MOST_RECORDS = 400;
const MOST_SINKS = 4;
const MOST_STEPS = 9;

/** Picks from 0 to below `n`. */
function below(random: Random, n: number): number {
  return Math.floor(random() * n);
}

/** The sinks of a job by their number, made when first asked for. */
export type Sinks = (index: number) => TransactionalMemorySink<Item>;

export interface RandomGraphOptions {
  readonly env: Environment;
  readonly simulation: Simulation;
  readonly random: Random;
  readonly sinks: Sinks;
}

/** Describes a graph of one to three sources, up to nine steps that branch, meet and keep state, and a sink at each end. */
export function describeRandomGraph(options: RandomGraphOptions): void {
  const { random, simulation, sinks } = options;
  const ends: Open[] = Array.from({ length: 1 + below(random, 3) }, (_, i) => source(options, `s${String(i)}-`));
  const steps = 2 + below(random, MOST_STEPS - 1);
  for (let step = 0; step < steps; step++) {
    const chosen = below(random, ends.length);
    const [open] = ends.splice(chosen, 1) as [Open];
    // Fan-out: what was there stays an end beside what comes of it.
    if (random() < 0.2 && ends.length < MOST_SINKS - 1) ends.push(open);
    const other = ends.length > 0 && random() < 0.35 ? ends.splice(below(random, ends.length), 1)[0] : undefined;
    ends.push(other === undefined ? one(open, step, options) : two(open, other, step, options));
  }
  // Where too many ends are left, some flow together.
  while (ends.length > MOST_SINKS) ends.push(united(ends.shift() as Open, ends.shift() as Open));
  ends.forEach((end, i) => {
    const sink = random() < 0.4 ? slowSink(sinks(i), 1 + below(random, 10)) : sinks(i);
    tail(end, i, options).to(simulation.sink(sink), { uid: `sink-${String(i)}` });
  });
}

/** What is in front of a sink: with several inputs it is the head of its stage, and some stages emit into it when they finish. */
function tail({ items }: Open, sink: number, options: RandomGraphOptions): Items {
  const { random } = options;
  const chance = random();
  if (chance < 0.3) return items.pipe(rebalance());
  if (chance < 0.6) return lastGathered(items, keyedOptions(MOST_STEPS + sink, options), random);
  return items;
}

/** A stage that takes its time to finish, and has its last records for what comes behind it only then. */
function lastGathered(items: Items, keyed: KeyedOptions, random: Random): Items {
  return gather(late(items, { ...keyed, uid: `late-${keyed.uid}`, ms: 1 + below(random, 20) }), keyed);
}

function source({ env, random }: RandomGraphOptions, name: string): Open {
  const splits = Array.from({ length: 1 + below(random, 4) }, () => below(random, 30));
  const keys = 1 + below(random, 12);
  const options = {
    name,
    splits,
    keys,
    perPoll: 1 + below(random, 4),
    pauseMs: random() < 0.2 ? 0 : 1 + below(random, 15),
  };
  const parallelism = random() < 0.3 ? 1 : undefined;
  return {
    items: env.from(pacedSource(options), { uid: name, parallelism }),
    records: splits.reduce((sum, n) => sum + n, 0),
    spread: keys,
    isLate: false,
  };
}

function one(open: Open, step: number, options: RandomGraphOptions): Open {
  const { items, records, isLate } = open;
  const { random, simulation } = options;
  const keyed = keyedOptions(step, options);
  // The key of what comes out is then a number within its old key.
  const spread = Math.max(1, records / Math.min(keyed.keys, open.spread));
  switch (below(random, 19)) {
    case 0:
      return { ...open, items: items.pipe(map(({ id, key }): Item => ({ id: `${id}m`, key: key + 1 }))) };
    case 1:
      return { ...open, items: items.pipe(filter(({ id }) => numberOf(id) % 5 > 0)), records: (records * 4) / 5 };
    case 2:
      if (records * 2 > MOST_RECORDS) return { ...open, items: items.pipe(rebalance()) };
      return {
        ...open,
        items: items.pipe(
          flatMap(({ id, key }): Item[] => [0, 1].map((i) => ({ id: `${id}f${String(i)}`, key: key + i }))),
        ),
        records: records * 2,
      };
    case 3:
      return { ...open, items: items.pipe(rebalance(), simulation.hazard()) };
    case 4:
      return { ...open, items: items.pipe(simulation.hazard()) };
    case 5:
      return { ...open, items: mark(items, keyed) };
    case 6:
      return { ...open, items: collect(items, keyed), spread: COLLECTED };
    case 7:
      return { ...open, items: reduce(items, keyed), spread: 1 };
    case 8:
    case 9: {
      if (isLate) return { ...open, items: count(items, keyed), spread };
      const timed: TimedOptions = {
        ...keyed,
        maxOutOfOrderness: below(random, 300),
        watermarkInterval: below(random, 2) * 20,
        isImpatient: random() < 0.5,
      };
      return { ...open, items: hold(items, timed), records: records * 2 };
    }
    case 10:
      return { ...open, items: gather(items, keyed), isLate: true };
    case 11:
    case 12:
    case 13:
      if (records * 5 > MOST_RECORDS) return { ...open, items: reduce(items, keyed), spread: 1 };
      return { ...open, items: loop(items, keyed), records: records * 3.5 };
    case 14:
      return { ...open, items: isLate ? count(items, keyed) : delay(items, keyed), spread };
    case 15:
      return { ...open, items: late(items, { ...keyed, ms: 1 + below(random, 20) }).pipe(rebalance()) };
    case 16:
      return { ...open, items: lastGathered(items, keyed, random), isLate: true };
    default:
      return { ...open, items: count(items, keyed), spread };
  }
}

function two(left: Open, right: Open, step: number, options: RandomGraphOptions): Open {
  const { random } = options;
  const keyed = keyedOptions(step, options);
  const spread = Math.min(left.spread, right.spread);
  const pairs = (left.records * right.records) / Math.min(keyed.keys, spread);
  if (random() < 0.5 || pairs > MOST_RECORDS) return united(left, right);
  return { items: join(left.items, right.items, keyed), records: pairs, spread, isLate: left.isLate || right.isLate };
}

function united(left: Open, right: Open): Open {
  return {
    items: left.items.pipe(union(right.items)),
    records: left.records + right.records,
    spread: Math.min(left.spread, right.spread),
    isLate: left.isLate || right.isLate,
  };
}

function keyedOptions(step: number, { random }: RandomGraphOptions): KeyedOptions {
  return {
    uid: `keyed-${String(step)}`,
    keys: 1 + below(random, 40),
    parallelism: random() < 0.3 ? 1 + below(random, 3) : undefined,
  };
}
