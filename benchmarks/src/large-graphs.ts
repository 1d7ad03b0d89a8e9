import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { memoryState, memoryStorage } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type Environment } from '@weir/core';
import { SILENT, staticSplits, type Sink, type Source } from '@weir/core/contracts';
import { keyBy, map, rebalance } from '@weir/core/operators';
import { mainThreadSeconds } from './rate.js';

// Jobs of many operators: how long they take to start, to be checkpointed and to end, and for how long the event loop stood still meanwhile.
// node benchmarks/dist/large-graphs.js [row|keyed|wide|parallel] [operators]

const { 2: shape = 'row', 3: operatorsGiven = '10000' } = process.argv;
const operators = Number(operatorsGiven);

/** Gives one record, then waits for the end of the job. */
function oneRecord(): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'only' }]),
    open: (_split, position = 0) => {
      let next = position;
      let wake: (() => void) | undefined;
      return Promise.resolve({
        async poll() {
          if (next === 0) return [next++];
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          return [];
        },
        position: () => next,
        close: () => {
          wake?.();
          return Promise.resolve();
        },
      });
    },
  };
}

let arrived = 0;
const counting: Sink<number, 'at-least-once'> = {
  grade: 'at-least-once',
  open: () => ({
    write: (batch) => {
      arrived += batch.length;
      return Promise.resolve();
    },
    close: () => undefined,
  }),
};

function describe(env: Environment): void {
  const source = env.from(oneRecord(), { uid: 'in', parallelism: 1 });
  const step = (n: number): number => n;
  if (shape === 'wide') {
    for (let i = 0; i < operators; i++) source.to(counting, { uid: `out-${String(i)}` });
    return;
  }
  if (shape === 'parallel') {
    source.pipe(rebalance(), map(step)).to(counting, { uid: 'out', parallelism: 1 });
    return;
  }
  let stream = source.pipe(map(step));
  for (let i = 1; i < operators; i++)
    stream = shape === 'keyed' && i % 10 === 0 ? stream.pipe(keyBy(step), map(step)) : stream.pipe(map(step));
  stream.to(counting, { uid: 'out', parallelism: 1 });
}

/** The largest CPU time of the main thread between two turns of its event loop: what it blocks for on a machine of its own. */
function watchTurns(): () => number {
  let most = 0;
  let before = mainThreadSeconds();
  let isOver = false;
  const turn = (): void => {
    const now = mainThreadSeconds();
    most = Math.max(most, now - before);
    before = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    return most;
  };
}

/** What it took, and the longest time that no timer could fire. */
async function measured(what: string, work: () => unknown): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  // Let it see the loop turn before and after the work.
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
  delay.enable();
  await turn();
  const cpu = process.cpuUsage();
  const before = performance.now();
  const mostOfATurn = watchTurns();
  await work();
  const took = performance.now() - before;
  const { user, system } = process.cpuUsage(cpu);
  await turn();
  const turnSeconds = mostOfATurn();
  delay.disable();
  console.log(
    `${what.padEnd(12)} ${took.toFixed(0).padStart(7)} ms, of it ${((user + system) / 1000).toFixed(0).padStart(7)} ms of the processor, ` +
      `event loop blocked for at most ${(delay.max / 1e6).toFixed(0)} ms, by ${(turnSeconds * 1000).toFixed(0)} ms of the main thread`,
  );
}

const env = createEnvironment({
  logger: SILENT,
  parallelism: shape === 'parallel' ? operators : 1,
  maxParallelism: 32_767,
  plugins: [checkpointCoordinator(), memoryState(), memoryStorage()],
});
env.enableCheckpointing();
await measured('describe', () => {
  describe(env);
});
let job: Awaited<ReturnType<Environment['start']>> | undefined;
await measured('start', async () => {
  const started = await env.start('large');
  job = started;
  await new Promise<void>((resolve, reject) => {
    started.status$.subscribe((status) => {
      if (status === 'running') resolve();
      else if (status === 'failed') started.done.catch(reject);
    });
  });
});
const running = job as NonNullable<typeof job>;
const expected = shape === 'wide' ? operators : 1;
await measured('record', async () => {
  while (arrived < expected) await new Promise((resolve) => setImmediate(resolve));
});
await measured('checkpoint', () => running.triggerCheckpoint());
await measured('checkpoint', () => running.triggerCheckpoint());
await measured('cancel', () => running.cancel());
