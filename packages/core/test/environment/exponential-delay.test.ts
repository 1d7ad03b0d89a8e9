import { seededRandom } from '@weir/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RestartDecision } from '../../src/contracts/restart-strategy.js';
import { exponentialDelay, type ExponentialDelayOptions } from '../../src/environment/exponential-delay.js';

interface Failure {
  readonly at: number;
  readonly random?: number;
  readonly progressed?: boolean;
}

function decisions(options: ExponentialDelayOptions, failures: readonly Failure[]): readonly RestartDecision[] {
  const strategy = exponentialDelay(options);
  let state = strategy.initial();
  return failures.map(({ at, random = 0.5, progressed = true }) => {
    const [next, decision] = strategy.decide(state, new Error('boom'), { now: at, random: () => random, progressed });
    state = next;
    return decision;
  });
}

/** Fails again the moment after each restart, with each of the given random numbers. */
function delays(options: ExponentialDelayOptions, randoms: readonly number[]): readonly (number | undefined)[] {
  const strategy = exponentialDelay(options);
  let state = strategy.initial();
  let now = 0;
  return randoms.map((random) => {
    const [next, decision] = strategy.decide(state, undefined, { now, random: () => random, progressed: true });
    state = next;
    if (!decision.restart) return undefined;
    now += decision.delayMs + 1;
    return decision.delayMs;
  });
}

const steady = (count: number): readonly number[] => Array.from({ length: count }, () => 0.5);

describe('exponential delay', () => {
  test('grows by the multiplier and drops fractions (107, testBackoffMultiplier)', () => {
    expect(delays({ initialBackoff: 4, backoffMultiplier: 2.3, jitterFactor: 0 }, steady(3))).toEqual([4, 9, 21]);
  });

  test('stays at its maximum', () => {
    expect(delays({ initialBackoff: 4, maxBackoff: 7, backoffMultiplier: 2, jitterFactor: 0 }, steady(5))).toEqual([
      4, 7, 7, 7, 7,
    ]);
  });

  test('varies by a share of what it would be without, within its bounds (109, testJitter)', () => {
    const options = { initialBackoff: 2, maxBackoff: 7, backoffMultiplier: 2, jitterFactor: 0.25 } as const;
    const grid = [0, 0.2, 0.4, 0.6, 0.8, 0.999];
    const nth = (n: number): ReadonlySet<unknown> =>
      new Set(grid.map((random) => delays(options, [...steady(n - 1), random])[n - 1]));
    expect(nth(2)).toEqual(new Set([3, 4, 5]));
    expect(nth(3)).toEqual(new Set([6, 7]));
    expect(nth(4)).toEqual(new Set([7]));
  });

  test('never varies beyond its maximum (109, testJitterNoHigherThanMax)', () => {
    const options = { initialBackoff: 1, maxBackoff: 7, backoffMultiplier: 2, jitterFactor: 1 } as const;
    const grid = Array.from({ length: 100 }, (_, i) => i / 100);
    const nth = (n: number): readonly unknown[] =>
      [...new Set(grid.map((random) => delays(options, [...steady(n - 1), random])[n - 1]))].toSorted();
    expect(nth(1)).toEqual([1, 2]);
    expect(nth(2)).toEqual([1, 2, 3, 4]);
    expect(nth(3)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('takes a failure before the planned restart as part of the one that planned it (111)', () => {
    const options = {
      initialBackoff: 10,
      backoffMultiplier: 2,
      jitterFactor: 0,
      attemptsBeforeResetBackoff: 2,
    } as const;
    const delay = decisions(options, [{ at: 0 }, { at: 4 }, { at: 10 }, { at: 11 }, { at: 31 }, { at: 32 }]);
    expect(delay.map((d) => (d.restart ? d.delayMs : 'no'))).toEqual([10, 6, 0, 20, 0, 'no']);
  });

  test('starts over after a quiet time, counted from the restart and inclusive', () => {
    const options = { initialBackoff: 10, backoffMultiplier: 2, jitterFactor: 0, resetBackoffThreshold: 100 } as const;
    // The restart of the first failure is due at 10.
    const second = (at: number): RestartDecision | undefined => decisions(options, [{ at: 0 }, { at }])[1];
    expect(second(109)).toEqual({ restart: true, delayMs: 20 });
    expect(second(110)).toEqual({ restart: true, delayMs: 10 });
  });

  test('does not start over after a quiet time in which no checkpoint has completed', () => {
    const options = { initialBackoff: 10, backoffMultiplier: 2, jitterFactor: 0, resetBackoffThreshold: 100 } as const;
    const waits = (progressed: boolean): unknown =>
      decisions(options, [{ at: 0 }, { at: 1000, progressed }, { at: 2000, progressed }, { at: 3000 }]).map((d) =>
        d.restart ? d.delayMs : 'no',
      );
    expect(waits(true)).toEqual([10, 10, 10, 10]);
    expect(waits(false)).toEqual([10, 20, 40, 10]);
    const bounded = decisions({ ...options, attemptsBeforeResetBackoff: 2 }, [
      { at: 0 },
      { at: 1000, progressed: false },
      { at: 2000, progressed: false },
    ]);
    expect(bounded.at(-1)).toEqual({
      restart: false,
      reason: '2 restarts did not lead to 100 ms without a failure and a checkpoint in them',
    });
  });

  test('gives up after the attempts that it has without a quiet time, and not before', () => {
    expect(delays({ initialBackoff: 1, jitterFactor: 0, attemptsBeforeResetBackoff: 3 }, steady(5))).toEqual([
      1,
      1,
      2,
      undefined,
      undefined,
    ]);
    const quiet = {
      initialBackoff: 1,
      jitterFactor: 0,
      attemptsBeforeResetBackoff: 1,
      resetBackoffThreshold: 10,
    } as const;
    expect(decisions(quiet, [{ at: 0 }, { at: 11 }, { at: 13 }]).map(({ restart }) => restart)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('has the defaults of Flink', () => {
    expect(exponentialDelay().description).toBe(
      'exponential-delay (initial backoff 1000 ms, max backoff 60000 ms, multiplier 1.5, jitter 0.1, reset after 3600000 ms, attempts unlimited)',
    );
  });

  test('cannot begin above its maximum', () => {
    expect(() => exponentialDelay({ initialBackoff: '2 s', maxBackoff: '1 s' })).toThrow(
      /CONFIG_CONTRADICTION: initialBackoff \(2000 ms\)/,
    );
    expect(exponentialDelay({ initialBackoff: '1 s', maxBackoff: '1 s' }).type).toBe('exponential-delay');
  });

  test('is within its bounds for any failures, settings and chances', () => {
    const settings = fc.record({
      initialBackoff: fc.integer({ min: 1, max: 5000 }),
      grown: fc.integer({ min: 0, max: 1_000_000 }),
      backoffMultiplier: fc.double({ min: 1.0001, max: 50, noNaN: true }),
      jitterFactor: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        settings,
        fc.array(fc.nat({ max: 10_000_000 }), { minLength: 1, maxLength: 300 }),
        fc.integer(),
        ({ grown, ...rest }, gaps, seed) => {
          const maxBackoff = rest.initialBackoff + grown;
          const strategy = exponentialDelay({ ...rest, maxBackoff });
          const random = seededRandom(seed);
          let state = strategy.initial();
          let now = 0;
          let due = -1;
          for (const gap of gaps) {
            now += gap;
            const [next, decision] = strategy.decide(state, undefined, { now, random, progressed: true });
            expect(decision.restart).toBe(true);
            const delay = (decision as { delayMs: number }).delayMs;
            expect(Number.isInteger(delay)).toBe(true);
            if (now <= due) expect(now + delay).toBe(due);
            else expect(delay).toBeGreaterThanOrEqual(rest.initialBackoff);
            expect(delay).toBeLessThanOrEqual(maxBackoff);
            due = now + delay;
            state = next;
          }
        },
      ),
    );
  });

  test('stays in whole numbers when the multiplier has run beyond every number', () => {
    const strategy = exponentialDelay({ jitterFactor: 0, backoffMultiplier: 10 });
    const far = { attempts: 10_000, restartAt: 0 };
    expect(strategy.decide(far, undefined, { now: 1, random: () => 0.5, progressed: true })[1]).toEqual({
      restart: true,
      delayMs: 60_000,
    });
    const withJitter = exponentialDelay({ jitterFactor: 1, backoffMultiplier: 10 });
    for (const random of [0, 0.5, 1 - Number.EPSILON]) {
      const [, decision] = withJitter.decide(far, undefined, { now: 1, random: () => random, progressed: true });
      expect(decision).toEqual({ restart: true, delayMs: random === 0 ? 1000 : 60_000 });
    }
  });
});
