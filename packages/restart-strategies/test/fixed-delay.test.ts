import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixedDelay } from '../src/fixed-delay.js';
import { decisionsOf, restartsOf } from './strategy-of.js';

describe('fixed delay', () => {
  test('restarts as often as it has attempts, and never again', () => {
    expect(restartsOf(fixedDelay({ attempts: 3 }), [0, 1, 2, 3, 4])).toEqual([true, true, true, false, false]);
  });

  test('with no attempts restarts never', () => {
    expect(restartsOf(fixedDelay({ attempts: 0 }), [0])).toEqual([false]);
  });

  test('waits for its delay each time', () => {
    const [first, second] = decisionsOf(fixedDelay({ attempts: 2, delay: '5 s' }), [0, 90]);
    expect([first, second]).toEqual([
      { restart: true, delayMs: 5000 },
      { restart: true, delayMs: 5000 },
    ]);
  });

  test('has one attempt, after a second, unless it is told otherwise', () => {
    expect(decisionsOf(fixedDelay(), [0, 1])).toEqual([
      { restart: true, delayMs: 1000 },
      { restart: false, reason: 'all of its 1 restarts are used up' },
    ]);
    expect(fixedDelay().description).toBe('fixed-delay (attempts 1, delay 1000 ms)');
  });

  test('gives no attempt back, however long a job ran well', () => {
    fc.assert(
      fc.property(fc.nat({ max: 20 }), fc.array(fc.nat(), { maxLength: 40 }), (attempts, gaps) => {
        let now = 0;
        const times = gaps.map((gap) => (now += gap));
        expect(restartsOf(fixedDelay({ attempts }), times)).toEqual(times.map((_, i) => i < attempts));
      }),
    );
  });
});
