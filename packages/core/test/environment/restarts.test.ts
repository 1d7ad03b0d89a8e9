import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { RestartStrategyRole } from '../../src/contracts/roles.js';
import { WeirError } from '../../src/errors.js';
import {
  createEnvironment,
  definePlugin,
  exponentialDelayRestart,
  noRestart,
  type Environment,
  type JobEvent,
  type Plugin,
} from '../../src/index.js';
import { map } from '../../src/operators.js';
import { SILENT } from '../../src/contracts/logger.js';
import { collecting, numbers } from './support.js';

/** Restarts at once, for ever, and remembers in its state how many failures it was asked about. */
const asked: number[] = [];
const counting = definePlugin({
  name: 'counting',
  options: { type: 'object', properties: {} },
  install: (binder) => {
    binder.provide(RestartStrategyRole, 'counting', () => ({
      type: 'counting',
      description: 'counting',
      initial: () => 0,
      decide: (failures) => {
        asked.push((failures as number) + 1);
        return [(failures as number) + 1, { restart: true, delayMs: 0 }];
      },
    }));
  },
});

interface Run {
  readonly env: Environment;
  readonly clock: VirtualClock;
  readonly out: number[];
}

function failing(plugins: readonly Plugin[], fail: (n: number) => void): Run {
  const clock = new VirtualClock();
  const env = createEnvironment({ plugins, clock, random: () => 0.5, logger: SILENT });
  const out: number[] = [];
  env
    .from(numbers(10))
    .pipe(
      map((n) => {
        fail(n);
        return n;
      }),
    )
    .to(collecting(out));
  return { env, clock, out };
}

describe('a failure of a job', () => {
  test.each([
    ['itself', (cause: Error) => cause],
    ['somewhere among its causes', (cause: Error) => new Error('outer', { cause: new Error('middle', { cause }) })],
  ])(
    'that no restart repairs ends it, unasked, with its cause, if that is said by %s (113, testNonRecoverableFailureHandlingResult, testUnrecoverableErrorCheck)',
    async (_where, wrap) => {
      asked.length = 0;
      const cause = new WeirError('SOURCE_POSITION_GONE', 'the position is gone', { recoverable: false });
      const { env, clock } = failing([counting()], (n) => {
        if (n === 5) throw wrap(cause);
      });
      const job = await env.start('job');
      const events: JobEvent[] = [];
      job.events$.subscribe((event) => events.push(event));
      const done = job.done.catch((error: unknown) => error);
      await clock.advance(1000);
      expect(asked).toEqual([]);
      expect(events.filter(({ kind }) => kind === 'restart')).toEqual([]);
      expect(causes(await done)).toContain(cause);
    },
  );

  test('that is not answered by a restart keeps its cause (113, testRestartingSuppressedFailureHandlingResult)', async () => {
    const cause = new Error('boom');
    const { env, clock } = failing([noRestart()], (n) => {
      if (n === 5) throw cause;
    });
    const done = env.execute('job').catch((error: unknown) => error);
    await clock.advance(1000);
    expect(causes(await done)).toContain(cause);
  });

  test('restarts the whole job, and the strategy remembers (113, testGlobalFailureHandling)', async () => {
    asked.length = 0;
    let failures = 0;
    const { env, clock, out } = failing([counting()], (n) => {
      if (n === 5 && ++failures <= 3) throw new Error(`boom ${String(failures)}`);
    });
    const job = await env.start('job');
    await clock.advance(1000);
    expect(await job.done).toBe('finished');
    expect(asked).toEqual([1, 2, 3]);
    expect(out.slice(-10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe('a job that always fails', () => {
  test('is restarted with growing delays, each told with its number and cause, and can be cancelled while it waits', async () => {
    const { env, clock } = failing([exponentialDelayRestart({ jitterFactor: 0 })], (n) => {
      if (n === 7) throw new Error('always');
    });
    const job = await env.start('job');
    const events: JobEvent[] = [];
    job.events$.subscribe((event) => events.push(event));
    await clock.advance(10_000);
    expect(events.flatMap((event) => (event.kind === 'restart' ? [[event.restarts, event.delayMs]] : []))).toEqual([
      [1, 1000],
      [2, 1500],
      [3, 2250],
      [4, 3375],
      [5, 5062],
    ]);
    expect(events.flatMap((event) => (event.kind === 'failure' ? causes(event.error).map(String) : []))).toContain(
      'Error: always',
    );
    void job.cancel();
    await clock.settle();
    expect(await job.done).toBe('cancelled');
  });
});

function causes(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let e = error; e !== undefined; e = (e as Error).cause) chain.push(e);
  return chain;
}
