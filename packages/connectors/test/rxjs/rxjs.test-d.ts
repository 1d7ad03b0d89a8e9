import { createEnvironment } from '@weir/core';
import { map, union, type Stream } from '@weir/core/operators';
import { interval, of, range, map as rxMap, type Observable } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';
import {
  committed,
  committedBatches,
  fromObservable,
  fromResumable,
  toObservable,
  type CommittedBatch,
  type ObservableLike,
} from '../../src/rxjs/index.js';
import { into } from '../support/jobs.js';

const env = createEnvironment();
const pushed = env.from(fromObservable(interval(10), { overflow: 'drop-oldest' }));
const resumed = env.from(
  fromResumable({
    start: 0,
    open: (at) => range(at, 10).pipe(rxMap((n) => ({ value: `v${String(n)}`, resumeAt: n + 1 }))),
  }),
);

describe('the types of the RxJS ends', () => {
  test('sources know their records and grades', () => {
    expectTypeOf(pushed).toEqualTypeOf<Stream<number, 'at-most-once'>>();
    expectTypeOf(resumed).toEqualTypeOf<Stream<string, 'replayable'>>();
    const both = env
      .from(fromObservable(of(1), { overflow: 'fail' }))
      .pipe(union(resumed.pipe(map((text) => text.length))));
    expectTypeOf(both).toEqualTypeOf<Stream<number, 'at-most-once' | 'replayable'>>();
  });

  test('fromObservable takes what only looks like an Observable', () => {
    const platform = {} as ObservableLike<string>;
    expectTypeOf(env.from(fromObservable(platform, { overflow: 'fail' }))).toEqualTypeOf<
      Stream<string, 'at-most-once'>
    >();
  });

  test('overflow has no default', () => {
    // @ts-expect-error no overflow
    fromObservable(of(1), {});
    // @ts-expect-error no such policy
    fromObservable(of(1), { overflow: 'block' });
  });

  test('positions are of one type, which need not be a primitive', () => {
    const paged = fromResumable({
      start: { page: 0 },
      async *open({ page }, signal) {
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        yield { value: 'x', resumeAt: { page: page + 1 } };
      },
    });
    expectTypeOf(env.from(paged)).toEqualTypeOf<Stream<string, 'replayable'>>();
    // @ts-expect-error a position of another type than the start
    fromResumable({ start: 0, open: () => of({ value: 'x', resumeAt: 'here' }) });
  });

  test('sinks at the end of a pipe give Observables', () => {
    expectTypeOf(resumed.pipe(committed({ uid: 'live' }))).toEqualTypeOf<Observable<string>>();
    expectTypeOf(
      resumed.pipe(
        map((text) => text.length),
        committed(),
      ),
    ).toEqualTypeOf<Observable<number>>();
    expectTypeOf(resumed.pipe(committedBatches())).toEqualTypeOf<Observable<CommittedBatch<string>>>();
    expectTypeOf(pushed.pipe(toObservable())).toEqualTypeOf<Observable<number>>();
  });

  test('a claim that a push source cannot keep does not compile', () => {
    resumed.to(into<string>([]), { guarantee: 'at-least-once' });
    // @ts-expect-error at most once is all that a push source gives
    pushed.to(into<number>([]), { guarantee: 'at-least-once' });
  });
});
