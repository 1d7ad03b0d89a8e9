import { Observable, type Subscriber } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { batch, type StreamElement } from '../../src/element/element.js';
import { flatMap, keyBy, keyedProcess, map, rebalance, transform, type Stream } from '../../src/operators.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { AttemptBench, plan, type AttemptBenchOptions, type Describe } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred } from '../support/deferred.js';
import { untilAborted } from '../support/held-job.js';
import { slowSink } from '../support/sinks.js';
import { splitSource, type Poll } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
type Numbers = Stream<number, 'replayable'>;

/** An operator of somebody else's, whose parts the test gives. */
const custom =
  (make: (context: OperatorContext) => Partial<Operator<number>>) =>
  (s: Numbers): Numbers =>
    transform<number, 'replayable'>([s], {
      name: 'custom',
      isStateful: true,
      create: (context) => ({ connect: (source) => source, ...make(context) }),
    });

async function started(
  describeJob: Describe,
  options: Partial<AttemptBenchOptions> & { readonly parallelism?: number } = {},
): Promise<{ bench: AttemptBench; clock: TickingClock }> {
  const { parallelism = 1, ...rest } = options;
  const clock = new TickingClock();
  const bench = new AttemptBench(plan(describeJob, parallelism), { clock, ...rest });
  await bench.run();
  return { bench, clock };
}

async function failureOf({ bench, clock }: { bench: AttemptBench; clock: TickingClock }): Promise<unknown> {
  const failure = bench.failed.catch((error: unknown) => error);
  await clock.settle();
  return failure;
}

describe('a subtask that fails', () => {
  test('stops every other at once, and no answer of the attempt is given any more', async () => {
    const seen: number[] = [];
    let hasFailed = false;
    const { bench, clock } = await started(
      (from) => {
        from(splitSource([numbers(50_000)], { polls: () => ({ count: 10, isAsync: false }) }), { uid: 'in' })
          .pipe(
            rebalance(),
            map((n) => {
              if (hasFailed) seen.push(n);
              if (n === 20_000) {
                hasFailed = true;
                throw new Error('poison');
              }
              return n;
            }),
          )
          .to(committingSink(new Outside<number>()), { uid: 'out' });
      },
      { parallelism: 4 },
    );
    await clock.run(2);
    const checkpoint = await bench.trigger(1);
    await clock.until(() => hasFailed);
    const answers = bench.reports.length;
    await expect(bench.attempt.allEnded).rejects.toMatchObject({ code: 'OPERATOR_FAILED' });
    const late = await bench.attempt.snapshotEnumerators(2).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: 'OPERATOR_FAILED' });
    await clock.settle();
    expect(seen).toEqual([]);
    expect(bench.reports).toHaveLength(answers);
    expect(checkpoint.acks.size).toBeLessThanOrEqual(checkpoint.expected);
    await bench.attempt.close('failed');
    expect(clock.pendingTimers).toBe(0);
  });

  test('rejects completions that are told to it, and those that come after its end', async () => {
    const commit = deferred();
    const { bench, clock } = await started((from) => {
      from(splitSource([[1, 2]])).to(
        {
          grade: 'exactly-once',
          open: () => ({ write: () => undefined, prepareCommit: (id) => [id], close: () => undefined }),
          destination: () => ({ id: 'place', name: 'a place', committed: [] }),
          committer: () => ({
            commit: (_all, signal) => Promise.race([commit.promise as Promise<never>, untilAborted(signal)]),
          }),
        },
        { uid: 'out' },
      );
    });
    await clock.settle();
    const checkpoint = await bench.trigger(1);
    await clock.settle();
    const told = bench.complete(checkpoint).catch((error: unknown) => error);
    await clock.settle();
    bench.attempt.fail(new Error('the reason'));
    expect(await told).toMatchObject({ message: 'the reason' });
    await bench.attempt.close('failed');
    await expect(bench.complete(checkpoint)).rejects.toThrow('the reason');
  });

  test('keeps the first reason', async () => {
    const { bench } = await started((from) => {
      from(splitSource([[1]])).to(slowSink<number>([], () => false));
    });
    bench.attempt.fail(new Error('first'));
    bench.attempt.fail(new Error('second'));
    await expect(bench.failed).rejects.toThrow('first');
    await bench.attempt.close('failed');
  });

  test.each<[string, Partial<Operator<number>>, string]>([
    [
      'prepares',
      {
        prepare: () => {
          throw new Error('boom');
        },
      },
      'OPERATOR_FAILED',
    ],
    ['prepares asynchronously', { prepare: () => Promise.reject(new Error('boom')) }, 'OPERATOR_FAILED'],
    [
      'is captured',
      {
        capture: () => {
          throw new Error('boom');
        },
      },
      'OPERATOR_FAILED',
    ],
    [
      'has state that no serializer takes',
      {
        capture: () => ({
          operatorState: [
            {
              name: 'mine',
              mode: 'list',
              values: [1],
              serializer: {
                id: 'x',
                version: 1,
                encode: () => {
                  throw new Error('boom');
                },
                decode: () => 0,
              },
            },
          ],
        }),
      },
      'OPERATOR_FAILED',
    ],
    [
      'hears of a completion',
      {
        completed: () => {
          throw new Error('boom');
        },
      },
      'OPERATOR_FAILED',
    ],
    [
      'hears of an abort',
      {
        aborted: () => {
          throw new Error('boom');
        },
      },
      'OPERATOR_FAILED',
    ],
    [
      'finishes',
      {
        finish: () => {
          throw new Error('boom');
        },
      },
      'OPERATOR_FAILED',
    ],
  ])('when an operator %s ends the attempt under the name of the operator', async (_when, own, code) => {
    const it = await started((from) => {
      from(splitSource([[1, 2, 3]]))
        .pipe(custom(() => own))
        .to(
          slowSink<number>([], () => false),
          { uid: 'out' },
        );
    });
    const { bench, clock } = it;
    const checkpoint = await bench.trigger(1);
    await clock.settle();
    bench.abort(checkpoint);
    const next = await bench.trigger(2).catch(() => undefined);
    await clock.settle();
    if (next !== undefined) bench.complete(next).catch(() => undefined);
    expect(await failureOf(it)).toMatchObject({
      code,
      message: expect.stringMatching(/custom-1 of job test \(subtask 0\).*boom/),
    });
    await bench.attempt.close('failed');
  });

  test('when what runs in its mailbox throws ends the attempt', async () => {
    const it = await started((from) => {
      from(splitSource([[1]], { bounded: false }))
        .pipe(
          custom(({ runInMailbox }) => ({
            open: () => {
              runInMailbox(() => {
                throw new Error('boom');
              });
            },
          })),
        )
        .to(slowSink<number>([], () => false));
    });
    expect(await failureOf(it)).toMatchObject({ message: expect.stringContaining('boom') });
    await it.bench.attempt.close('failed');
  });

  test('when the function of a key throws behind it ends the attempt', async () => {
    const it = await started(
      (from) => {
        from(splitSource([numbers(10)]), { uid: 'in' })
          .pipe(
            keyBy((n) => {
              if (n === 5) throw new Error('no key');
              return n;
            }),
            keyedProcess({ onRecord: () => undefined }),
          )
          .to(slowSink<unknown>([], () => false));
      },
      { parallelism: 2 },
    );
    expect(await failureOf(it)).toMatchObject({
      code: 'OPERATOR_FAILED',
      message: expect.stringMatching(/Operator in .*no key/),
    });
    await it.bench.attempt.close('failed');
  });
});

describe('an attempt is not closed', () => {
  /** Fails the attempt, and says whether it is closed before `settle` and after it. */
  async function closing(
    it: { bench: AttemptBench; clock: TickingClock },
    settle: () => void,
  ): Promise<readonly boolean[]> {
    let isClosed = false;
    it.bench.attempt.fail(new Error('poison'));
    const closed = it.bench.attempt.close('failed').then(() => {
      isClosed = true;
    });
    await it.clock.settle();
    const before = isClosed;
    settle();
    await closed;
    return [before, isClosed];
  }

  test('while an operator is told of a completion', async () => {
    const told = deferred();
    const log: string[] = [];
    const it = await started((from) => {
      from(splitSource([[1]]))
        .pipe(custom(() => ({ completed: () => told.promise, close: () => void log.push('closed') })))
        .to(slowSink<number>([], () => false));
    });
    const checkpoint = await it.bench.trigger(1);
    await it.clock.settle();
    it.bench.complete(checkpoint).catch(() => undefined);
    await it.clock.settle();
    expect(await closing(it, told.resolve)).toEqual([false, true]);
    expect(log).toEqual(['closed']);
  });

  test('while a snapshot is written', async () => {
    const write = deferred();
    const it = await started(
      (from) => {
        from(splitSource([[1, 2, 3]], { polls: endlessAfter(1) })).to(slowSink<number>([], () => false));
      },
      { onWrite: () => write.promise },
    );
    await it.clock.run(10);
    const checkpoint = await it.bench.trigger(1);
    await it.clock.run(10);
    expect(await closing(it, write.resolve)).toEqual([false, true]);
    expect(checkpoint.acks.size).toBe(0);
  });

  test('before a write of its sink has settled, but then at once, although an operator waits for what it emitted', async () => {
    const log: string[] = [];
    const it = await started((from) => {
      from(splitSource([[1, 2, 3]], { polls: endlessAfter(3) }))
        .pipe(holdingBack('prepare'))
        .to({
          grade: 'at-least-once',
          open: ({ signal }) => ({
            write: () => {
              log.push('write');
              return untilAborted(signal);
            },
            flush: () => void log.push('flush'),
            close: () => void log.push('closed'),
          }),
        });
    });
    await it.clock.run(10);
    await it.bench.trigger(1);
    await it.clock.run(10);
    it.bench.attempt.fail(new Error('poison'));
    await it.bench.attempt.close('failed');
    expect(log).toEqual(['write', 'closed']);
  });
});

describe('an attempt that cannot be opened', () => {
  test('fails at once, although another subtask never opens', async () => {
    const clock = new TickingClock();
    const described = plan((from) => {
      const a = from(splitSource([[1]]), { uid: 'a' });
      a.pipe(custom(({ signal }) => ({ open: () => untilAborted(signal) }))).to(slowSink<number>([], () => false));
      a.pipe(custom(() => ({ open: () => Promise.reject(new Error('boom')) }))).to(slowSink<number>([], () => false));
    });
    const bench = new AttemptBench(described, { clock });
    await expect(bench.attempt.open()).rejects.toMatchObject({ code: 'OPERATOR_FAILED' });
    await bench.attempt.close('failed');
  });

  test('closes what is being opened, and opens nothing more', async () => {
    const clock = new TickingClock();
    const log: string[] = [];
    const opening = deferred();
    const described = plan((from) => {
      const loggedStep = (name: string, open: () => Promise<void> | void): ReturnType<typeof custom> =>
        custom(() => ({
          open: () => {
            log.push(`open ${name}`);
            return open();
          },
          close: () => void log.push(`close ${name}`),
        }));
      from(splitSource([[1]]))
        .pipe(
          loggedStep('head', () => undefined),
          loggedStep('tail', () => opening.promise),
        )
        .to(slowSink<number>([], () => false));
    });
    const bench = new AttemptBench(described, { clock });
    const opened = bench.attempt.open().catch((error: unknown) => error);
    await clock.settle();
    let isClosed = false;
    const closed = bench.attempt.close('cancelled').then(() => {
      isClosed = true;
    });
    await clock.settle();
    expect([log, isClosed]).toEqual([['open tail'], false]);
    opening.resolve();
    await closed;
    expect(await opened).toMatchObject({ code: 'JOB_CANCELLED' });
    expect(log).toEqual(['open tail', 'close tail', 'close head']);
  });
});

describe('an attempt', () => {
  test('that has many subtasks may have as many listeners to its signal', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): unknown => warnings.push(name);
    process.on('warning', onWarning);
    const { bench } = await started(
      (from) => {
        from(splitSource([[1]]))
          .pipe(
            custom(({ signal }) => ({
              open: () => {
                signal.addEventListener('abort', () => undefined);
              },
            })),
          )
          .to(slowSink<number>([], () => false));
      },
      { parallelism: 40 },
    );
    await bench.attempt.close('cancelled');
    await new Promise((resolve) => setTimeout(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('is closed once, whoever asks', async () => {
    let closed = 0;
    const { bench } = await started((from) => {
      from(splitSource([[1]]))
        .pipe(
          custom(() => ({
            close: () => {
              closed++;
            },
          })),
        )
        .to(slowSink<number>([], () => false));
    });
    await Promise.all([bench.attempt.close('cancelled'), bench.attempt.close('failed')]);
    expect(closed).toBe(1);
  });

  test.each(['prepare', 'finish'] as const)(
    'lets what an operator emits in its %s reach the sink before that has its turn',
    async (call) => {
      const outside = new Outside<number>();
      const { bench, clock } = await started((from) => {
        // The end comes at once, or never.
        const polls = call === 'finish' ? undefined : endlessAfter(3);
        from(splitSource([[1, 2, 3]], { polls }), { uid: 'in' })
          .pipe(
            holdingBack(call),
            flatMap(function* (n) {
              for (let i = 0; i < 2000; i++) yield n * 10_000 + i;
            }),
          )
          .to(committingSink(outside, { onWrite: () => Promise.resolve() }), { uid: 'out' });
      });
      await clock.run(20);
      const checkpoint = await bench.trigger(1);
      await clock.until(() => checkpoint.isComplete);
      const told = bench.complete(checkpoint);
      await clock.run(20);
      await told;
      expect(outside.visible).toHaveLength(6000);
      await bench.attempt.close('cancelled');
    },
  );
});

/** Polls that bring everything `polls` times, and nothing after that. */
function endlessAfter(polls: number): () => Poll {
  let left = polls;
  return () => ({ count: left-- > 0 ? Number.POSITIVE_INFINITY : 0, isAsync: false });
}

/** Emits its records only when it is told to prepare, or to finish. */
function holdingBack(until: 'prepare' | 'finish'): (s: Numbers) => Numbers {
  return custom(() => {
    const held: number[] = [];
    let output: Subscriber<StreamElement<number>> | undefined;
    return {
      connect: (source: Observable<StreamElement<number>>) =>
        new Observable<StreamElement<number>>((target) => {
          output = target;
          return source.subscribe((element) => {
            if (element.kind === 'batch') held.push(...element.records);
          });
        }),
      [until]: () => output?.next(batch(held.splice(0))),
    };
  });
}
