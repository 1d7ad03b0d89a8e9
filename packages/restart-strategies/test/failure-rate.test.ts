import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureRate } from '../src/failure-rate.js';
import { decisionsOf, restartsOf } from './strategy-of.js';

const three = failureRate({ maxFailuresPerInterval: 3, failureRateInterval: 10_000, delay: 5 });

describe('failure rate', () => {
  test('restarts after as many failures within the interval as it allows, and not after one more (105, testFailuresExceedingRate)', () => {
    expect(restartsOf(three, [0, 1, 2, 3])).toEqual([true, true, true, false]);
  });

  test('counts a failure exactly one interval ago, and none before (105)', () => {
    expect(restartsOf(three, [0, 1, 2, 10_000])).toEqual([true, true, true, false]);
    expect(restartsOf(three, [0, 1, 2, 10_001])).toEqual([true, true, true, true]);
  });

  test('slides: what is over an interval ago is forgotten one by one', () => {
    expect(restartsOf(three, [0, 4000, 8000, 10_001, 14_001, 18_000])).toEqual([true, true, true, true, true, false]);
  });

  test('forgets three failures for the next three (FLINK-20752)', () => {
    expect(restartsOf(three, [0, 1, 2, 20_000, 20_001, 20_002, 20_003])).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  test('with one failure allowed restarts after the first', () => {
    expect(
      restartsOf(
        failureRate({ maxFailuresPerInterval: 1, failureRateInterval: '20 s', delay: '5 s' }),
        [0, 20_001, 40_001],
      ),
    ).toEqual([true, true, false]);
  });

  test('waits for its delay and says why it gives up', () => {
    expect(decisionsOf(three, [0, 1, 2, 3])).toEqual([
      { restart: true, delayMs: 5 },
      { restart: true, delayMs: 5 },
      { restart: true, delayMs: 5 },
      { restart: false, reason: 'there were 4 failures within 3 ms' },
    ]);
  });

  test('allows one failure a minute and waits a second, unless it is told otherwise', () => {
    expect(failureRate().description).toBe('failure-rate (max failures 1, interval 60000 ms, delay 1000 ms)');
  });

  test('gives up exactly when more failures than allowed lie within an interval that ends now', () => {
    const settings = fc.record({ max: fc.integer({ min: 1, max: 6 }), interval: fc.integer({ min: 1, max: 50 }) });
    fc.assert(
      fc.property(settings, fc.array(fc.nat({ max: 30 }), { maxLength: 60 }), ({ max, interval }, gaps) => {
        let now = 0;
        const times = gaps.map((gap) => (now += gap));
        const expected = times.map(
          (time, i) => times.slice(0, i + 1).filter((t) => time - t <= interval).length <= max,
        );
        expect(restartsOf(failureRate({ maxFailuresPerInterval: max, failureRateInterval: interval }), times)).toEqual(
          expected,
        );
      }),
    );
  });

  test('remembers no more failures than it needs', () => {
    let state = three.initial();
    for (let now = 0; now < 100; now++)
      [state] = three.decide(state, undefined, { now, random: () => 0, progressed: true });
    expect(state).toEqual([96, 97, 98, 99]);
  });
});
