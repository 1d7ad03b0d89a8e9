import { createEnvironment, type JobEvent } from '@weir/core';
import { SILENT, isWeirError, staticSplits, type Plugin, type Sink, type Source } from '@weir/core/contracts';
import { map } from '@weir/core/operators';
import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { failureRateRestart, fallbackRestart, fixedDelayRestart, noRestart } from '../src/index.js';

interface Run {
  readonly plugins?: readonly Plugin[];
  readonly restart?: Plugin;
  readonly config?: Record<string, string | number>;
  /** Time that each failure comes after the start of its attempt. */
  readonly failures: number;
}

/** Runs a job that fails so many times, 10 ms after each start, and says how it ended and after which delays it was restarted. */
async function run({
  plugins = [],
  restart,
  config = {},
  failures,
}: Run): Promise<{ end: string; delays: readonly number[] }> {
  const clock = new VirtualClock();
  let left = failures;
  const env = createEnvironment({ plugins, config, clock, logger: SILENT });
  env
    .from(oneAfter(clock, 10))
    .pipe(
      map((n) => {
        if (left-- > 0) throw new Error('boom');
        return n;
      }),
    )
    .to(nowhere);
  const job = await env.start('job', { restart });
  const delays: number[] = [];
  job.events$.subscribe((event: JobEvent) => {
    if (event.kind === 'restart') delays.push(event.delayMs);
  });
  const end = job.done.catch((error: unknown) => (isWeirError(error) ? error.code : String(error)));
  await clock.advance(3_600_000);
  return { end: await end, delays };
}

describe('a job with failure rate 3 in 10 s', () => {
  const plugins = [failureRateRestart({ maxFailuresPerInterval: 3, failureRateInterval: '10 s', delay: 5 })];

  test.each([
    [0, 'finished', 0],
    [3, 'finished', 3],
    [4, 'RESTART_SUPPRESSED', 3],
  ])('that fails %d times is %s after %d restarts (FLINK-20752)', async (failures, end, restarts) => {
    const result = await run({ plugins, failures });
    expect(result).toEqual({ end, delays: Array.from({ length: restarts }, () => 5) });
  });
});

describe('a job with fixed delay', () => {
  test.each([
    [3, 3, 'finished', 3],
    [3, 4, 'RESTART_SUPPRESSED', 3],
    [0, 1, 'RESTART_SUPPRESSED', 0],
  ])('of %d attempts that fails %d times is %s', async (attempts, failures, end, restarts) => {
    const result = await run({ plugins: [fixedDelayRestart({ attempts, delay: '2 s' })], failures });
    expect(result).toEqual({ end, delays: Array.from({ length: restarts }, () => 2000) });
  });

  test('takes what code leaves open from the configuration', async () => {
    const config = {
      'restart-strategy.type': 'fixed-delay',
      'restart-strategy.fixed-delay.attempts': '4',
      'restart-strategy.fixed-delay.delay': '3 s',
    };
    const plugins = [fixedDelayRestart({ delay: 7 }), failureRateRestart()];
    expect(await run({ plugins, config, failures: 4 })).toEqual({ end: 'finished', delays: [7, 7, 7, 7] });
  });
});

describe('a job', () => {
  const environment = { plugins: [fixedDelayRestart({ attempts: 2, delay: 100 })] };

  test('has its own strategy before that of its environment', async () => {
    expect(await run({ ...environment, restart: fixedDelayRestart({ attempts: 1, delay: 1 }), failures: 1 })).toEqual({
      end: 'finished',
      delays: [1],
    });
    expect((await run({ ...environment, restart: noRestart(), failures: 1 })).delays).toEqual([]);
  });

  test('falls back to that of its environment', async () => {
    expect(await run({ ...environment, restart: fallbackRestart(), failures: 2 })).toEqual({
      end: 'finished',
      delays: [100, 100],
    });
  });

  test('without checkpointing and any strategy is not restarted', async () => {
    expect((await run({ failures: 1 })).delays).toEqual([]);
  });
});

const nowhere: Sink<number, 'at-least-once', never> = {
  grade: 'at-least-once',
  open: () => ({ write: () => undefined, close: () => undefined }),
};

/** One record, so long after the source was opened. */
function oneAfter(clock: VirtualClock, ms: number): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'one' }]),
    open: (_split, position = 0) => {
      let next = position;
      return Promise.resolve({
        poll: () => {
          if (next > 0) return 'end';
          next = 1;
          return new Promise<readonly number[]>((resolve) => {
            clock.timer(ms, () => resolve([1]));
          });
        },
        position: () => next,
        close: () => Promise.resolve(),
      });
    },
  };
}
