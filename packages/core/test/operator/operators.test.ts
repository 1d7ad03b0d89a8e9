import {
  bufferCount,
  concatMap,
  debounceTime,
  delay,
  distinct,
  distinctUntilChanged,
  EMPTY,
  endWith,
  filter,
  from,
  last,
  map,
  mergeMap,
  NEVER,
  of,
  pairwise,
  reduce,
  scan,
  skip,
  startWith,
  Subject,
  take,
  throttleTime,
  throwError,
  timer,
  toArray,
  type Observable,
  type OperatorFunction,
} from 'rxjs';
import { describe, expect, test } from 'vitest';
import { batch, type RecordBatch, type StreamElement } from '../../src/element/element.js';
import { flatMapOperator } from '../../src/operator/flat-map.js';
import type { Operator } from '../../src/operator/operator.js';
import { perBatch } from '../../src/operator/per-batch.js';
import { rxOperator } from '../../src/operator/rx.js';
import { filterOperator, mapOperator, tapOperator } from '../../src/operator/stateless.js';
import { operatorContext } from '../support/operator-context.js';

const context = operatorContext({ uid: 'step' });

function through(
  operator: Operator,
  ...input: readonly StreamElement<unknown>[]
): { out: StreamElement<unknown>[]; errors: unknown[] } {
  const head = new Subject<StreamElement<unknown>>();
  const out: StreamElement<unknown>[] = [];
  const errors: unknown[] = [];
  (operator as Operator<unknown>).connect(head).subscribe({ next: (e) => out.push(e), error: (e) => errors.push(e) });
  for (const element of input) head.next(element);
  return { out, errors };
}
const timed: RecordBatch<number> = { kind: 'batch', records: [1, 2, 3], timestamps: [10, 20, 30] };
const watermark: StreamElement<never> = { kind: 'watermark', time: 30 };

describe('operators on batches', () => {
  test.each<[string, Operator, RecordBatch<unknown>]>([
    [
      'map',
      mapOperator(context, (n: number) => n * 2),
      { kind: 'batch', records: [2, 4, 6], timestamps: [10, 20, 30] },
    ],
    [
      'filter',
      filterOperator(context, (n: number) => n !== 2),
      { kind: 'batch', records: [1, 3], timestamps: [10, 30] },
    ],
    ['tap', tapOperator(context, () => undefined), timed],
    [
      'flatMap',
      flatMapOperator(context, (n: number) => new Array<number>(n - 1).fill(n)),
      { kind: 'batch', records: [2, 3, 3], timestamps: [20, 30, 30] },
    ],
    [
      'rx',
      rxOperator(
        context,
        mergeMap((n: number) => (n === 2 ? EMPTY : of(n, -n))),
      ),
      { kind: 'batch', records: [1, -1, 3, -3], timestamps: [10, 10, 30, 30] },
    ],
  ])('%s: records keep their timestamps, and watermarks their place behind them', (_name, operator, expected) => {
    expect(through(operator, timed, watermark)).toEqual({ out: [expected, watermark], errors: [] });
  });

  test.each<[string, Operator]>([
    ['map', mapOperator(context, failing)],
    ['filter', filterOperator(context, failing)],
    ['tap', tapOperator(context, failing)],
    ['flatMap', flatMapOperator(context, failing)],
    [
      'flatMap, in the iterable',
      flatMapOperator(context, function* (n: number) {
        yield n;
        failing();
      }),
    ],
    ['flatMap, without an iterable', flatMapOperator(context, () => 5 as never)],
    ['rx', rxOperator(context, map(failing))],
    [
      'rx, as an error of the stream',
      rxOperator(
        context,
        mergeMap(() => throwError(() => new Error('boom'))),
      ),
    ],
  ])('%s: what user code throws fails the attempt under the name of the operator', (_name, operator) => {
    const { errors } = through(operator, batch([1]));
    expect(errors).toEqual([
      expect.objectContaining({
        code: 'OPERATOR_FAILED',
        message: expect.stringContaining('Operator step of job test'),
      }),
    ]);
  });

  test('filter sends nothing where nothing is left, and the batch itself where all is', () => {
    const whole = batch([1, 2]);
    expect(
      through(
        filterOperator(context, () => false),
        whole,
      ).out,
    ).toEqual([]);
    expect(
      through(
        filterOperator(context, () => true),
        whole,
      ).out[0],
    ).toBe(whole);
  });

  test('an operator of somebody else may do what it likes with a batch, and fails under its name', () => {
    const twice = (operator: typeof perBatch): Operator => ({
      connect: (source) =>
        source.pipe(
          operator<number, number>(context, (records, target) => {
            if (records.records.includes(0)) throw new Error('zero');
            target.next(records);
            target.next(records);
          }),
        ),
    });
    const one = batch([1]);
    expect(through(twice(perBatch), one).out).toEqual([one, one]);
    expect(through(twice(perBatch), batch([0])).errors).toEqual([expect.objectContaining({ code: 'OPERATOR_FAILED' })]);
  });
});

describe('rx', () => {
  const rx = (lifted: Parameters<typeof rxOperator<number, unknown>>[1]): ReturnType<typeof through> =>
    through(rxOperator(context, lifted), batch([1, 2, 3]));

  test.each([
    ['delay', delay<number>(0)],
    ['timer', concatMap<number, Observable<number>>(() => timer(0))],
    ['a stream that never ends', mergeMap<number, typeof NEVER>(() => NEVER)],
    ['a promise', concatMap<number, Promise<number>>((n) => Promise.resolve(n))],
  ])('refuses what answers later: %s', (_name, lifted) => {
    const { out, errors } = rx(lifted);
    expect(out).toEqual([]);
    expect(errors).toEqual([expect.objectContaining({ code: 'RX_HELD_BACK', recoverable: false })]);
  });

  test.each<[string, OperatorFunction<number, unknown>]>([
    ['a sum', scan((sum, n) => sum + n, 0)],
    ['pairs', pairwise()],
    ['groups of two', bufferCount(2)],
    ['groups of a hundred', bufferCount(100)],
    ['what was not there yet', distinct()],
    ['what differs from what came before', distinctUntilChanged()],
    ['the first one', take(1)],
    ['all but the first', skip(1)],
    ['the last one', last()],
    ['an array of all', toArray()],
    ['one that waits for silence', debounceTime(10)],
    ['one that lets through what comes after silence', throttleTime(10)],
    ['a number of its own', map((n, i) => n * i)],
    ['one more in front', startWith(0)],
    ['one more behind', endWith(0)],
    [
      'one behind others',
      (source) =>
        source.pipe(
          mergeMap((n) => from([n])),
          pairwise(),
        ),
    ],
  ])('refuses what remembers, before anything of it is passed on: %s', (_what, lifted) => {
    const { out, errors } = rx(lifted);
    expect(out).toEqual([]);
    expect(errors).toEqual([expect.objectContaining({ code: 'RX_REMEMBERS', recoverable: false })]);
  });

  let calls = 0;
  test.each<[string, OperatorFunction<number, unknown>, unknown[]]>([
    ['a sum of its own items', mergeMap((n) => from([n, 1]).pipe(reduce((a, b) => a + b))), [2, 3, 4]],
    ['the first of its own items', mergeMap((n) => from([n, 1]).pipe(take(1))), [1, 2, 3]],
    ['what makes an object', map((n) => ({ n })), [{ n: 1 }, { n: 2 }, { n: 3 }]],
    [
      'what cannot be copied',
      map((n) => ({ n, at: expect.any(Function) as unknown })),
      [1, 2, 3].map((n) => ({ n, at: expect.any(Function) })),
    ],
    ['what gives nothing', filter(() => false), []],
    ['what is a little more each time', map((n) => n + calls++ * 0), [1, 2, 3]],
    ['what counts by itself', map(() => calls++), [expect.any(Number), expect.any(Number), expect.any(Number)]],
  ])('takes what makes something of each record alone: %s', (_what, lifted, expected) => {
    const { out, errors } = rx(lifted);
    expect(errors).toEqual([]);
    expect(out.flatMap((element) => (element.kind === 'batch' ? element.records : []))).toEqual(expected);
  });

  test('does not change a record by looking whether it is remembered', () => {
    const lifted = map((record: { n: number }) => Object.assign(record, { n: record.n + 1 }));
    expect(through(rxOperator(context, lifted), batch([{ n: 1 }, { n: 5 }])).out).toEqual([
      batch([{ n: 2 }, { n: 6 }]),
    ]);
  });

  test('runs several operators, which may drop a record or make many of it', () => {
    const lifted = (source: Parameters<Parameters<typeof rx>[0]>[0]): ReturnType<Parameters<typeof rx>[0]> =>
      source.pipe(
        filter((n) => n !== 2),
        mergeMap((n) => from([n, n * 10])),
      );
    expect(rx(lifted).out).toEqual([batch([1, 10, 3, 30])]);
  });

  test('hears nothing of what an operator says after it was refused', () => {
    const late = new Subject<number>();
    const { out, errors } = rx(mergeMap(() => late));
    late.next(5);
    expect([out, errors.length, late.observed]).toEqual([[], 1, false]);
  });
});

describe('functions that are async, from JavaScript', () => {
  const anything = (value: unknown): never => value as never;
  const unheard = (): Promise<never> => Promise.reject(new Error('unheard'));

  test.each<[string, (given: () => unknown) => Operator]>([
    ['map', (given) => mapOperator(context, given)],
    ['filter', (given) => filterOperator(context, () => anything(given()))],
    ['tap', (given) => tapOperator(context, () => anything(given()))],
    ['flatMap', (given) => flatMapOperator<number, unknown>(context, () => anything(given()))],
  ])('are refused before a promise becomes a record, or an answer: %s', (name, operator) => {
    for (const given of [unheard, () => Promise.resolve(1), () => ({ then: () => undefined })]) {
      let calls = 0;
      const { out, errors } = through(
        operator(() => {
          calls++;
          return given();
        }),
        batch([1, 2, 3]),
      );
      expect(out).toEqual([]);
      expect(calls).toBe(1);
      expect(errors).toEqual([
        expect.objectContaining({
          code: 'OPERATOR_FAILED',
          recoverable: false,
          message: expect.stringContaining(
            `Operator step of job test: the function given to ${name} returned a promise`,
          ) as string,
        }),
      ]);
    }
  });

  test('are told from what is no iterable, and from verdicts that are no booleans', () => {
    const asyncGenerator = async function* (): AsyncGenerator<number> {
      yield await Promise.resolve(1);
    };
    for (const given of [asyncGenerator, () => 5, () => undefined, () => null])
      expect(
        through(
          flatMapOperator<number, unknown>(context, () => anything(given())),
          batch([1]),
        ).errors,
      ).toEqual([expect.objectContaining({ message: expect.stringContaining('returned no iterable') as string })]);
    const verdicts = [1, 0, 'a', '', {}, null];
    const { out } = through(
      filterOperator<number>(context, (n) => anything(verdicts[n])),
      batch([0, 1, 2, 3, 4, 5]),
    );
    expect(out).toEqual([batch([0, 2, 4])]);
  });
});

describe('flatMap', () => {
  test('closes an iterable that it leaves half read when the stream ends', () => {
    const log: string[] = [];
    const flow = { isOpen: () => false, suspend: () => undefined, waitFor: () => undefined };
    const head = new Subject<StreamElement<number>>();
    const subscription = flatMapOperator(operatorContext({ flow }), function* (n: number) {
      try {
        for (;;) yield n;
      } finally {
        log.push(`closed ${String(n)}`);
      }
    })
      .connect(head)
      .subscribe();
    head.next(batch([7]));
    expect(log).toEqual([]);
    subscription.unsubscribe();
    expect(log).toEqual(['closed 7']);
  });

  test('does not ask an iterable that threw to close itself', () => {
    let closed = 0;
    const iterable = (): Iterable<number> => ({
      [Symbol.iterator]: () => ({
        next: failing,
        return: () => {
          closed++;
          return { done: true, value: undefined };
        },
      }),
    });
    expect(through(flatMapOperator(context, iterable), batch([1])).errors).toHaveLength(1);
    expect(closed).toBe(0);
  });
});

function failing(): never {
  throw new Error('boom');
}
