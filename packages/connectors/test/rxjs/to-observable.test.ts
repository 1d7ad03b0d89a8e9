import { rebalance } from '@weir/core/operators';
import { numbers } from '@weir/testkit';
import { config, delay, lastValueFrom, map, Subject, take, timer, toArray, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fromObservable, toObservable } from '../../src/rxjs/index.js';
import { RESTART_DELAY_MS, runJob, type Run } from '../support/jobs.js';

const uncaught: unknown[] = [];
beforeEach(() => {
  uncaught.length = 0;
  config.onUnhandledError = (error) => uncaught.push(error);
});
afterEach(() => {
  config.onUnhandledError = null;
});
const afterUnhandled = (): Promise<unknown> => lastValueFrom(timer(1));

/** A job that gives 0 to 4 to `toObservable`, one per turn. */
async function liveJob(
  watch: (live$: Observable<number>) => void,
  options: { readonly restarts?: boolean } = {},
): Promise<Run> {
  return runJob((env) => {
    watch(env.from(numbers(5, { perPoll: 1 })).pipe(toObservable({ uid: 'live' })));
  }, options);
}

describe('toObservable', () => {
  test('gives the records as they come and completes when the job has finished', async () => {
    const seen: unknown[] = [];
    const run = await liveJob((live$) => {
      live$.subscribe({ next: (n) => seen.push(n), complete: () => seen.push('complete') });
    });
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(seen).toEqual([0, 1, 2, 3, 4, 'complete']);
  });

  test('is hot: who subscribes later gets the rest, who unsubscribes leaves the job alone', async () => {
    const early: number[] = [];
    const late: number[] = [];
    const run = await liveJob((live$) => {
      live$.pipe(take(2)).subscribe((n) => {
        early.push(n);
        if (n === 1) live$.subscribe((m) => late.push(m));
      });
    });
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect([early, late]).toEqual([
      [0, 1],
      [2, 3, 4],
    ]);
  });

  test('ends for those who come when the job is over', async () => {
    const live: Observable<number>[] = [];
    const run = await liveJob((live$) => live.push(live$));
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(await lastValueFrom((live[0] as Observable<number>).pipe(toArray()))).toEqual([]);
  });

  test('starts again with another run of the same environment', async () => {
    const live: Observable<number>[] = [];
    const run = await liveJob((live$) => live.push(live$));
    await run.clock.settle();
    await run.outcome;
    const [live$] = live as [Observable<number>];
    const again = await run.env.start('again');
    const seen: number[] = [];
    again.status$.subscribe((status) => {
      if (status === 'running') live$.subscribe((n) => seen.push(n));
    });
    await run.clock.settle();
    expect(await again.done).toBe('finished');
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  test('fails the attempt when a subscriber throws, and gives the records again after the restart', async () => {
    const seen: number[] = [];
    let failures = 0;
    const run = await liveJob((live$) => {
      live$.pipe(map((n) => n * 10)).subscribe((n) => {
        seen.push(n);
        if (n === 20 && failures++ === 0) throw new Error('page is gone');
      });
    });
    await run.clock.settle();
    expect(run.events.find(({ kind }) => kind === 'failure')).toMatchObject({
      error: { code: 'SINK_FAILED', cause: { message: 'page is gone' } },
    });
    await run.clock.advance(RESTART_DELAY_MS);
    await afterUnhandled();
    expect(await run.outcome).toBe('finished');
    expect(seen).toEqual([0, 10, 20, 0, 10, 20, 30, 40]);
    expect(uncaught).toEqual([]);
  });

  test('fails the attempt when an operator throws and nobody handles it', async () => {
    const run = await liveJob(
      (live$) => {
        live$.pipe(map((n) => (n as unknown as { x: { y: number } }).x.y)).subscribe(() => undefined);
      },
      { restarts: false },
    );
    await run.clock.settle();
    await afterUnhandled();
    expect(await run.outcome).toMatchObject({ code: 'SINK_FAILED', cause: expect.any(TypeError) });
    expect(uncaught).toEqual([]);
  });

  test('errors as the job does, and raises nothing where nobody listens for errors', async () => {
    const cause = new Error('page is gone');
    const errors: unknown[] = [];
    const run = await liveJob(
      (live$) => {
        live$.subscribe({
          next: () => {
            throw cause;
          },
        });
        live$.subscribe({ error: (error: unknown) => errors.push(error) });
      },
      { restarts: false },
    );
    await run.clock.settle();
    const outcome = await run.outcome;
    await afterUnhandled();
    expect(outcome).toMatchObject({ cause });
    expect(errors).toEqual([outcome]);
    expect(uncaught).toEqual([]);
  });

  test('leaves to its subscriber what that does at another time', async () => {
    const error = new Error('later');
    const run = await liveJob((live$) => {
      live$.pipe(delay(1), take(1)).subscribe(() => {
        throw error;
      });
    });
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    await lastValueFrom(timer(5));
    expect(uncaught).toEqual([error]);
  });

  test('completes when the job is cancelled', async () => {
    const subject = new Subject<string>();
    const seen: string[] = [];
    const run = await runJob((env) => {
      env
        .from(fromObservable(subject, { overflow: 'fail' }))
        .pipe(toObservable())
        .subscribe({ next: (value) => seen.push(value), complete: () => seen.push('complete') });
    });
    await run.clock.settle();
    subject.next('value');
    await run.clock.settle();
    expect(seen).toEqual(['value']);
    run.cancel();
    await run.clock.settle();
    expect(await run.outcome).toBe('cancelled');
    expect(seen).toEqual(['value', 'complete']);
  });

  test('merges what all subtasks give', async () => {
    const seen: number[] = [];
    const run = await runJob(
      (env) => {
        env
          .from(numbers(100))
          .pipe(rebalance(), toObservable())
          .subscribe((n) => seen.push(n));
      },
      { parallelism: 3 },
    );
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });
});
