import type { AbortReason } from '@weir/core/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ABORTS } from '../src/abort.js';
import { FailureCounter } from '../src/failure-counter.js';

// Source tests: CheckpointFailureManagerTest.

test('testContinuousFailure: two tolerable failures, a reason that does not count, and the third failure is one too many', () => {
  const counter = new FailureCounter(2);
  expect(counter.failed('CHECKPOINT_DECLINED', 1)).toBe('tolerated');
  expect(counter.failed('CHECKPOINT_DECLINED', 2)).toBe('tolerated');
  expect(counter.failed('CHECKPOINT_SUBSUMED', 3)).toBe('ignored');
  expect(counter.failed('CHECKPOINT_DECLINED', 4)).toBe('exceeded');
});

test('testContinuousFailure: the count starts again once it was exceeded', () => {
  const counter = new FailureCounter(0);
  expect(counter.failed('CHECKPOINT_EXPIRED', 1)).toBe('exceeded');
  expect(counter.failed('CHECKPOINT_EXPIRED', 2)).toBe('exceeded');
  const tolerant = new FailureCounter(1);
  tolerant.failed('CHECKPOINT_EXPIRED', 1);
  expect(tolerant.failed('CHECKPOINT_EXPIRED', 2)).toBe('exceeded');
  expect(tolerant.failed('CHECKPOINT_EXPIRED', 3)).toBe('tolerated');
});

test('testBreakContinuousFailure: a success in between ends the row', () => {
  const counter = new FailureCounter(2);
  counter.failed('IO_EXCEPTION', 1);
  counter.failed('CHECKPOINT_DECLINED', 2);
  counter.succeeded(3);
  expect(counter.failed('CHECKPOINT_EXPIRED', 4)).toBe('tolerated');
  expect(counter.failed('CHECKPOINT_EXPIRED', 5)).toBe('tolerated');
  expect(counter.failed('CHECKPOINT_EXPIRED', 6)).toBe('exceeded');
});

test('testTotalCountValue: exactly the reasons that say so count', () => {
  const counting = (Object.keys(ABORTS) as AbortReason[]).filter(
    (reason) => new FailureCounter(0).failed(reason, 1) === 'exceeded',
  );
  expect(counting.sort()).toEqual([
    'CHECKPOINT_ASYNC_EXCEPTION',
    'CHECKPOINT_DECLINED',
    'CHECKPOINT_EXPIRED',
    'FINALIZE_CHECKPOINT_FAILURE',
    'IO_EXCEPTION',
  ]);
});

test('testIgnoreOneCheckpointRepeatedlyCountMultiTimes: a checkpoint counts once however often it is reported', () => {
  const counter = new FailureCounter(2);
  counter.failed('CHECKPOINT_DECLINED', 1);
  counter.failed('CHECKPOINT_DECLINED', 2);
  expect(counter.failed('CHECKPOINT_DECLINED', 2)).toBe('ignored');
});

test('failures without an id count each time', () => {
  const counter = new FailureCounter(1);
  expect(counter.failed('IO_EXCEPTION', undefined)).toBe('tolerated');
  expect(counter.failed('IO_EXCEPTION', undefined)).toBe('exceeded');
});

test('testIgnoreFailureOfOlderCheckpoint: a failure at or below the last success is ignored', () => {
  const counter = new FailureCounter(0);
  counter.succeeded(5);
  expect(counter.failed('CHECKPOINT_EXPIRED', 4)).toBe('ignored');
  expect(counter.failed('CHECKPOINT_EXPIRED', 5)).toBe('ignored');
  expect(counter.failed('CHECKPOINT_EXPIRED', 6)).toBe('exceeded');
});

test('a success older than one already seen does not end a row of failures', () => {
  const counter = new FailureCounter(1);
  counter.succeeded(5);
  counter.failed('CHECKPOINT_EXPIRED', 6);
  counter.succeeded(4);
  expect(counter.failed('CHECKPOINT_EXPIRED', 7)).toBe('exceeded');
});

test('testUnlimitedTolerance: nothing is counted', () => {
  const counter = new FailureCounter(Infinity);
  for (let id = 1; id < 1000; id++) expect(counter.failed('CHECKPOINT_EXPIRED', id)).toBe('ignored');
});

test('counts as a model does that looks at the whole past each time', () => {
  const event = fc.oneof(
    fc.record({
      kind: fc.constant('failed' as const),
      reason: fc.constantFrom(...(Object.keys(ABORTS) as AbortReason[])),
      id: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
    }),
    fc.record({ kind: fc.constant('succeeded' as const), id: fc.integer({ min: 1, max: 8 }) }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.nat(3), (events, tolerable) => {
      const counter = new FailureCounter(tolerable);
      let best = 0;
      let row: (number | undefined)[] = [];
      for (const e of events) {
        if (e.kind === 'succeeded') {
          counter.succeeded(e.id);
          if (e.id > best) row = [];
          best = Math.max(best, e.id);
          continue;
        }
        const counts = ABORTS[e.reason].counts && (e.id === undefined || (e.id > best && !row.includes(e.id)));
        if (counts) row.push(e.id);
        const expected = !counts ? 'ignored' : row.length > tolerable ? 'exceeded' : 'tolerated';
        if (expected === 'exceeded') row = [];
        expect(counter.failed(e.reason, e.id)).toBe(expected);
      }
    }),
  );
});
