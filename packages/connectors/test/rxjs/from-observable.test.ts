import { fc, test as property } from '@fast-check/vitest';
import { isWeirError, SILENT, type Logger, type ReaderContext, type SourceReader } from '@weir/core/contracts';
import { map } from '@weir/core/operators';
import { readerContext, sourceSuite } from '@weir/testkit';
import { concat, Observable, of, range, Subject, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, test } from 'vitest';
import { fromObservable, type ObservableLike, type Overflow } from '../../src/rxjs/index.js';
import { into, runJob, RESTART_DELAY_MS } from '../support/jobs.js';

/** A reader as the engine gets it: after the enumerator has started. */
async function opened<T>(
  source: ReturnType<typeof fromObservable<T>>,
  context: ReaderContext = readerContext(),
): Promise<SourceReader<T>> {
  await source.enumerator(context).start(undefined);
  return source.open({ id: 'observable' }, undefined, context);
}

describe('the contract of sources is kept by fromObservable', () => {
  sourceSuite(test, {
    capabilities: { grade: 'at-most-once', bounded: false },
    create: () => ({
      source: () => fromObservable(range(0, 100), { overflow: 'fail' }),
      expected: { observable: Array.from({ length: 100 }, (_, i) => i) },
    }),
  });
});

describe('a job over fromObservable', () => {
  test('gets the values in order and ends when the Observable completes', async () => {
    const out: number[] = [];
    const { clock, outcome } = await runJob((env) => {
      env.from(fromObservable(range(0, 3000), { overflow: 'fail' })).to(into(out));
    });
    await clock.settle();
    expect(await outcome).toBe('finished');
    expect(out).toEqual(Array.from({ length: 3000 }, (_, i) => i));
  });

  test('misses nothing from the moment its status is running', async () => {
    const out: string[] = [];
    const subject = new Subject<string>();
    const run = await runJob((env) => {
      env.from(fromObservable(subject, { overflow: 'fail' })).to(into(out));
    });
    await run.clock.until(() => run.events.some((e) => e.kind === 'status' && e.status === 'running'));
    subject.next('first');
    await run.clock.settle();
    expect(out).toEqual(['first']);
    subject.next('second');
    subject.complete();
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(out).toEqual(['first', 'second']);
  });

  test('says when it has subscribed, once for each job: from then on nothing is missed', async () => {
    const out: string[] = [];
    const subject = new Subject<string>();
    const jobs: string[] = [];
    const onSubscribed = (job: string): void => {
      jobs.push(job);
      subject.next('first');
    };
    subject.next('nobody is there');
    const run = await runJob((env) => {
      env
        .from(fromObservable(subject, { overflow: 'fail', onSubscribed }))
        .pipe(
          map((text) => {
            if (text === 'poison') throw new Error(text);
            return text;
          }),
        )
        .to(into(out));
    });
    await run.clock.settle();
    subject.next('poison');
    await run.clock.advance(RESTART_DELAY_MS);
    subject.next('second');
    subject.complete();
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(out).toEqual(['first', 'second']);
    expect(jobs).toEqual(['job']);
  });

  test('fails at once, and lets go of the Observable, when whoever was to begin sending throws', async () => {
    const subject = new Subject<string>();
    const cause = new Error('no connection');
    const onSubscribed = (): never => {
      throw cause;
    };
    const run = await runJob((env) => {
      env.from(fromObservable(subject, { overflow: 'fail', onSubscribed }), { uid: 'live' }).to(into([]));
    });
    await run.clock.advance(60_000);
    expect(await run.outcome).toMatchObject({
      code: 'SOURCE_FAILED',
      recoverable: false,
      cause,
      message: expect.stringContaining('Source live of job job: onSubscribed threw: no connection'),
    });
    expect(subject.observed).toBe(false);
  });

  test('subscribes once, however often it restarts, and gets what came while no attempt ran', async () => {
    const out: number[] = [];
    const subject = new Subject<number>();
    let subscriptions = 0;
    const counted = new Observable<number>((subscriber) => {
      subscriptions++;
      return subject.subscribe(subscriber);
    });
    const run = await runJob((env) => {
      env
        .from(fromObservable(counted, { overflow: 'fail' }))
        .pipe(
          map((n) => {
            if (n < 0) throw new Error('poison');
            return n;
          }),
        )
        .to(into(out));
    });
    await run.clock.settle();
    for (const n of [1, -1]) {
      subject.next(n);
      await run.clock.settle();
    }
    expect(run.events.at(-1)).toMatchObject({ kind: 'restart', delayMs: RESTART_DELAY_MS });
    subject.next(2);
    subject.next(3);
    await run.clock.advance(RESTART_DELAY_MS);
    subject.next(4);
    subject.complete();
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(out).toEqual([1, 2, 3, 4]);
    expect(subscriptions).toBe(1);
  });

  test('fails without a restart when the Observable does, after the values before the error', async () => {
    const out: number[] = [];
    const cause = new Error('socket closed');
    const run = await runJob((env) => {
      env
        .from(
          fromObservable(
            concat(
              of(1, 2),
              throwError(() => cause),
            ),
            { overflow: 'fail' },
          ),
          { uid: 'socket' },
        )
        .to(into(out));
    });
    await run.clock.advance(60_000);
    const error = await run.outcome;
    expect(error).toMatchObject({ code: 'SOURCE_FAILED', recoverable: false, cause });
    expect((error as Error).message).toContain('socket of job job');
    expect(run.events.filter(({ kind }) => kind === 'restart')).toEqual([]);
    expect(out).toEqual([1, 2]);
  });

  test('fails with SOURCE_OVERFLOW, naming the capacity and the way out, in the middle of a source that never stops', async () => {
    const run = await runJob((env) => {
      env.from(fromObservable(range(0, Infinity), { overflow: 'fail', capacity: 50 }), { uid: 'flood' }).to(into([]));
    });
    await run.clock.advance(60_000);
    const error = await run.outcome;
    expect(error).toMatchObject({ code: 'SOURCE_OVERFLOW', recoverable: false });
    expect((error as Error).message).toMatch(/flood.*50.*drop-oldest.*fromResumable/s);
  });

  test.each(['cancelled', 'failed', 'finished'] as const)('lets go of the Observable when it is %s', async (end) => {
    const subject = new Subject<number>();
    const run = await runJob(
      (env) => {
        env
          .from(fromObservable(subject, { overflow: 'fail' }))
          .pipe(
            map((n) => {
              throw new Error(`poison ${String(n)}`);
            }),
          )
          .to(into([]));
      },
      { restarts: false },
    );
    await run.clock.settle();
    expect(subject.observed).toBe(true);
    if (end === 'cancelled') run.cancel();
    else if (end === 'failed') subject.next(1);
    else subject.complete();
    await run.clock.settle();
    await run.outcome;
    expect(run.events.at(-1)).toMatchObject({ kind: 'status', status: end });
    expect(subject.observed).toBe(false);
  });

  test('takes the Observable of the platform, and aborts its signal in the end', async () => {
    const signals: AbortSignal[] = [];
    const platform: ObservableLike<number> = {
      subscribe(observer, options) {
        if (options !== undefined) signals.push(options.signal);
        observer.next(1);
        observer.next(2);
      },
    };
    const out: number[] = [];
    const run = await runJob((env) => {
      env.from(fromObservable(platform, { overflow: 'fail' })).to(into(out));
    });
    await run.clock.settle();
    expect(out).toEqual([1, 2]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    run.cancel();
    await run.clock.settle();
    await run.outcome;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('fails when subscribing throws', async () => {
    const broken: ObservableLike<number> = {
      subscribe() {
        throw new Error('no such device');
      },
    };
    const run = await runJob((env) => {
      env.from(fromObservable(broken, { overflow: 'fail' })).to(into([]));
    });
    await run.clock.settle();
    expect(await run.outcome).toMatchObject({ code: 'SOURCE_FAILED', cause: { message: 'no such device' } });
  });

  test('has a subscription of its own where one source is used twice', async () => {
    const out: number[] = [];
    const source = fromObservable(of(1, 2), { overflow: 'fail' });
    const run = await runJob((env) => {
      env.from(source).to(into(out));
      env.from(source).to(into(out));
    });
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(out.toSorted()).toEqual([1, 1, 2, 2]);
  });

  test('is read by one subtask, whatever the parallelism', async () => {
    const out: number[] = [];
    const run = await runJob(
      (env) => {
        env.from(fromObservable(range(0, 100), { overflow: 'fail' })).to(into(out));
      },
      { parallelism: 3 },
    );
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(out).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('does not subscribe again after a restore from a checkpoint that counts it as read to its end', async () => {
    const source = fromObservable(of(1), { overflow: 'fail' });
    const before = source.enumerator(readerContext({ job: 'before' }));
    await before.start(undefined);
    before.assign(0);
    before.finished('observable');
    let subscriptions = 0;
    const again = fromObservable(
      new Observable<number>(() => {
        subscriptions++;
      }),
      { overflow: 'fail' },
    );
    const after = again.enumerator(readerContext());
    await after.start(before.snapshot());
    expect([after.assign(0), subscriptions]).toEqual(['end', 0]);
  });
});

describe('a value that finds the buffer full', () => {
  /** A reader of what `diagram` has left behind. */
  async function after(diagram: string, overflow: Overflow): Promise<SourceReader<string>> {
    const context = readerContext();
    const source = new TestScheduler(() => undefined).run(({ hot }) => {
      const marbles = fromObservable<string>(hot(diagram), { overflow, capacity: 3 });
      void marbles.enumerator(context).start(undefined);
      return marbles;
    });
    return source.open({ id: 'observable' }, undefined, context);
  }

  test('pushes the oldest out with drop-oldest', async () => {
    const reader = await after('-a-b-(cde)-|', 'drop-oldest');
    expect(reader.poll(10)).toEqual(['c', 'd', 'e']);
    expect(reader.poll(10)).toBe('end');
  });

  test('is dropped itself with drop-newest', async () => {
    const reader = await after('-a-b-(cde)-|', 'drop-newest');
    expect(reader.poll(10)).toEqual(['a', 'b', 'c']);
    expect(reader.poll(10)).toBe('end');
  });

  test('takes everything that is still buffered with it with fail, at once', async () => {
    const reader = await after('-a-b-(cde)-|', 'fail');
    expect(() => reader.poll(10)).toThrow('SOURCE_OVERFLOW');
  });

  test('is none where everything fits, and an error comes behind what was buffered', async () => {
    const reader = await after('-a-b-c-#', 'fail');
    expect(reader.poll(10)).toEqual(['a', 'b', 'c']);
    expect(() => reader.poll(10)).toThrow('SOURCE_FAILED');
  });

  test('is counted, and said once in the log', async () => {
    const counts: Record<string, number> = {};
    const warnings: object[] = [];
    const logger: Logger = { ...SILENT, warn: (fields) => warnings.push(fields) };
    const metrics: ReaderContext['metrics'] = {
      counter: (name, labels) => ({
        add: (n) => {
          const key = `${name} ${JSON.stringify(labels)}`;
          counts[key] = (counts[key] ?? 0) + n;
        },
      }),
      histogram: () => ({ record: () => undefined }),
      gauge: () => () => undefined,
    };
    const source = fromObservable(range(0, 10), { overflow: 'drop-newest', capacity: 4 });
    await opened(source, readerContext({ logger, metrics, uid: 'sensor' }));
    expect(counts).toEqual({ 'weir.source.dropped {"uid":"sensor"}': 6 });
    expect(warnings).toEqual([{ uid: 'sensor', capacity: 4, overflow: 'drop-newest' }]);
  });

  property.prop([
    fc.integer({ min: 1, max: 5 }),
    fc.constantFrom('drop-oldest' as const, 'drop-newest' as const),
    fc.array(fc.oneof(fc.constant('emit' as const), fc.integer({ min: 1, max: 4 })), { maxLength: 60 }),
  ])('leaves the buffer as a list that is cut to its bound would be', async (capacity, overflow, program) => {
    const subject = new Subject<number>();
    const reader = await opened(fromObservable(subject, { overflow, capacity }));
    let model: number[] = [];
    let next = 0;
    for (const step of program) {
      if (step === 'emit') {
        const value = next++;
        subject.next(value);
        if (overflow === 'drop-oldest') model = [...model, value].slice(-capacity);
        else if (model.length < capacity) model.push(value);
      } else if (model.length > 0) expect(reader.poll(step)).toEqual(model.splice(0, step));
    }
    subject.complete();
    if (model.length > 0) expect(reader.poll(100)).toEqual(model);
    expect(reader.poll(100)).toBe('end');
  });
});

describe('fromObservable refuses', () => {
  const refusal = (make: () => unknown): unknown => {
    try {
      return make();
    } catch (error) {
      return error;
    }
  };

  test('to choose an overflow policy for the caller', () => {
    const options = {} as { overflow: Overflow };
    expect(
      isWeirError(
        refusal(() => fromObservable(of(1), options)),
        'CONFIG_INVALID',
      ),
    ).toBe(true);
  });

  test.each([0, -1, 1.5, NaN, Infinity])('a capacity of %s', (capacity) => {
    expect(
      isWeirError(
        refusal(() => fromObservable(of(1), { overflow: 'fail', capacity })),
        'CONFIG_INVALID',
      ),
    ).toBe(true);
  });

  test('what cannot be subscribed', () => {
    const source = [1, 2] as unknown as ObservableLike<number>;
    expect(
      isWeirError(
        refusal(() => fromObservable(source, { overflow: 'fail' })),
        'CONFIG_INVALID',
      ),
    ).toBe(true);
  });
});
