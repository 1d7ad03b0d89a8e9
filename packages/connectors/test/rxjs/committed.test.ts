import { createEnvironment, noRestart } from '@weir/core';
import { isWeirError, SILENT } from '@weir/core/contracts';
import { map } from '@weir/core/operators';
import { numbers } from '@weir/testkit';
import { lastValueFrom, NEVER, toArray, type Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { committed, committedBatches, fromObservable, type CommittedBatch } from '../../src/rxjs/index.js';
import { RESTART_DELAY_MS, runJob } from '../support/jobs.js';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
/** Everything until the end, which is an error if the Observable errs. */
const all = <T>(source: Observable<T>): Promise<T[]> => lastValueFrom(source.pipe(toArray()));

describe('with checkpointing off', () => {
  test('committed emits whenever its capacity is reached, and the rest at the end', async () => {
    const sizes: number[] = [];
    const batches: CommittedBatch<number>[] = [];
    const run = await runJob((env) => {
      env
        .from(numbers(10, { perPoll: 1 }))
        .pipe(
          map((n) => {
            sizes.push(batches.length);
            return n;
          }),
          committedBatches({ capacity: 4 }),
        )
        .subscribe((batch) => batches.push(batch));
    });
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(batches).toEqual([
      { checkpointId: 0, records: [0, 1, 2, 3] },
      { checkpointId: 0, records: [4, 5, 6, 7] },
      { checkpointId: 0, records: [8, 9] },
    ]);
    expect(sizes).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
  });

  test('what a failed attempt had not emitted does not come, and what it had comes again', async () => {
    let failures = 0;
    const streams: Promise<number[]>[] = [];
    const run = await runJob((env) => {
      const stream = env.from(numbers(6, { perPoll: 1 })).pipe(
        map((n) => {
          if (n === 5 && failures++ === 0) throw new Error('poison');
          return n;
        }),
        committed({ capacity: 4 }),
      );
      streams.push(all(stream));
    });
    await run.clock.advance(RESTART_DELAY_MS);
    expect(await run.outcome).toBe('finished');
    expect(await streams[0]).toEqual([0, 1, 2, 3, ...upTo(6)]);
  });

  test('an endless job is refused at the start, and told to take checkpoints', async () => {
    const env = createEnvironment({ plugins: [noRestart()], logger: SILENT });
    env.from(fromObservable(NEVER, { overflow: 'fail' })).pipe(committed());
    const error = await env.start('job').catch((e: unknown) => e);
    expect(isWeirError(error, 'GUARANTEE_IMPOSSIBLE')).toBe(true);
    expect((error as Error).message).toContain('enableCheckpointing');
  });
});

describe('committed', () => {
  test('gathers the records of all subtasks into one', async () => {
    const streams: Promise<CommittedBatch<number>[]>[] = [];
    const run = await runJob(
      (env) => {
        streams.push(all(env.from(numbers(50)).pipe(committedBatches())));
      },
      { parallelism: 3 },
    );
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(await streams[0]).toEqual([{ checkpointId: 0, records: upTo(50) }]);
  });

  test('errors when the job fails', async () => {
    const streams: Promise<unknown>[] = [];
    const run = await runJob(
      (env) => {
        const stream = env.from(numbers(1)).pipe(
          map((): number => {
            throw new Error('poison');
          }),
          committed(),
        );
        streams.push(all(stream).catch((error: unknown) => error));
      },
      { restarts: false },
    );
    await run.clock.settle();
    expect(await streams[0]).toBe(await run.outcome);
  });

  test('refuses a capacity of nothing', () => {
    const env = createEnvironment({ logger: SILENT });
    expect(() => env.from(numbers(1)).pipe(committed({ capacity: 0 }))).toThrow('CONFIG_INVALID');
  });
});
