import { createEnvironment, type Environment, type JobEnd, type JobHandle } from '@weir/core';
import { messageOf, SILENT, type JobEvent, type Random, type Source } from '@weir/core/contracts';
import { Gauges } from './gauges.js';
import { hazard } from './hazard.js';
import type { Operations } from './operations.js';
import { SimulatedClock } from './simulated-clock.js';
import type { SimulatedJob } from './simulated-job.js';
import { simulatedPlugins, type OutsideWorld } from './simulated-plugins.js';
import { describeEvent } from './describe-event.js';
import { timed, type Trace } from './trace.js';
import { observing, unreliableMetrics } from './unreliable-observers.js';
import { unreliableSink } from './unreliable-sink.js';
import { unreliableSource } from './unreliable-source.js';

/** How a process ended. `stuck`: nothing was left to happen, or far too much had. `broken`: something escaped the job. */
export type ProcessEnd =
  | { readonly kind: 'ended'; readonly end: JobEnd }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'killed' }
  | { readonly kind: 'stuck'; readonly why: string }
  | { readonly kind: 'broken'; readonly error: unknown };

export interface ProcessOptions {
  readonly number: number;
  readonly job: SimulatedJob;
  readonly world: OutsideWorld;
  readonly operations: Operations;
  readonly parallelism: number;
  /** Of the schedule. */
  readonly clockRandom: Random;
  /** What the job takes for chance. */
  readonly jobRandom: Random;
  /** Of those who only watch. */
  readonly observerRandom: Random;
  /** Epoch ms. */
  readonly startsAt: number;
  /** What it takes without faults. */
  readonly usualSteps: number;
  readonly usualMs: number;
  readonly mostSteps: number;
  readonly trace: Trace;
}

export interface ProcessReport {
  readonly end: ProcessEnd;
  readonly steps: number;
  readonly endedAt: number;
}

const EVENTS_SHOWN = 20;
/** Longer than anything that answers takes, and short beside the life of a job. */
const CALL_TIMEOUT = '5 s';

/** One process of a job: from its start to its end, its crash, or the moment when nothing can happen any more. */
export async function runProcess(options: ProcessOptions): Promise<ProcessReport> {
  const { number, job, world, operations, parallelism, clockRandom, jobRandom, startsAt, usualSteps, mostSteps } =
    options;
  const { faults, watch, outside } = world;
  const clock = new SimulatedClock(clockRandom, startsAt, outside);
  const trace = timed(options.trace, () => clock.time - startsAt);
  trace.add(() => `process ${String(number)} starts with parallelism ${String(parallelism)}`);
  faults.begin(clock, trace, usualSteps);
  watch.begins();
  const gauges = new Gauges();
  const observe = observing(faults, options.observerRandom);
  let ids = 0;
  const env = createEnvironment({
    plugins: [simulatedPlugins(job.plugins(), world)],
    parallelism,
    maxParallelism: job.maxParallelism,
    clock,
    random: jobRandom,
    newId: () => `process-${String(number)}-${String(++ids)}`,
    logger: SILENT,
    metrics: unreliableMetrics(gauges, observe),
    callTimeouts: { storage: CALL_TIMEOUT, source: CALL_TIMEOUT, sink: CALL_TIMEOUT, state: CALL_TIMEOUT },
  });
  job.describe(inWorld(env, world), {
    sink: (sink) => unreliableSink(sink, faults, watch),
    hazard: () => hazard(faults),
  });

  const events: JobEvent[] = [];
  const onEvent = (event: JobEvent): void => {
    events.push(event);
    trace.add(() => describeEvent(event));
    watch.sees(event);
    if (event.kind === 'restored') faults.restored();
    if (event.kind === 'checkpoint-completed') faults.checkpointCompleted(event.trigger === 'final');
    if (event.kind === 'checkpoint-triggered' || event.kind === 'checkpoint-aborted') faults.provoked(0.05);
  };
  const start = operations.takeStart();
  if (start !== undefined) trace.add(() => `started from ${start.restoreFrom}, ${start.claimMode}`);
  // Filled in by what happens.
  const seen: { end?: ProcessEnd; handle?: JobHandle } = {};
  env
    .start('simulated', start)
    .then((started) => {
      seen.handle = started;
      started.events$.subscribe(({ kind }) => {
        observe(`a subscriber to ${kind}`);
      });
      started.events$.subscribe(onEvent);
      operations.begin(started, options.usualMs, (ms, action) => clock.later(ms, action));
      return started.done;
    })
    .then(
      (how) => (seen.end = { kind: 'ended', end: how }),
      (error: unknown) => (seen.end = { kind: 'failed', error }),
    );

  const finish = async (how: ProcessEnd): Promise<ProcessReport> => {
    trace.add(() => `process ${String(number)}: ${describeEnd(how)}`);
    const report = { end: how, steps: clock.steps, endedAt: clock.time };
    clock.kill();
    await outside.end();
    return report;
  };
  const stuck = (what: string): Promise<ProcessReport> =>
    finish({
      kind: 'stuck',
      why: [
        `${what} at step ${String(clock.steps)}, status ${seen.handle?.status ?? 'not started'}`,
        gauges.describe(),
        ...events.slice(-EVENTS_SHOWN).map((event) => `  ${describeEvent(event)}`),
      ].join('\n'),
    });
  for (;;) {
    const death = { hasCome: false };
    try {
      const hasStepped = await clock.step(() => {
        death.hasCome = seen.end === undefined && faults.stepped();
        return seen.end === undefined && !death.hasCome;
      });
      if (hasStepped) {
        if (clock.steps < mostSteps) continue;
        return await stuck('it does not come to an end');
      }
    } catch (error) {
      return finish({ kind: 'broken', error });
    }
    if (death.hasCome) return finish({ kind: 'killed' });
    if (seen.end === undefined) return stuck('nothing is left that could happen');
    watch.ended(clock.pendingOfJob);
    return finish(seen.end);
  }
}

export function describeEnd(end: ProcessEnd): string {
  switch (end.kind) {
    case 'ended':
      return `the job has ${end.end}`;
    case 'failed':
      return `the job failed: ${messageOf(end.error)}`;
    case 'killed':
      return 'killed';
    case 'stuck':
      return `stuck: ${end.why}`;
    case 'broken':
      return `an error escaped: ${end.error instanceof Error ? (end.error.stack ?? end.error.message) : messageOf(end.error)}`;
  }
}

/** The environment as the job sees it: its sources have bad days. */
function inWorld(env: Environment, { faults, watch }: OutsideWorld): Environment {
  return {
    ...env,
    // Of another type only for the compiler: the same methods over the same records.
    from: (source, options) =>
      env.from(
        unreliableSource(source as unknown as Source<unknown>, faults, watch) as unknown as typeof source,
        options,
      ),
  };
}
