import type { RestartDecision, RestartStrategy } from '@weir/core/contracts';
import { restartStrategySuite, runSuite } from '@weir/testkit';
import { describe, expect, test } from 'vitest';

/** Two restarts, a random while after each failure. */
const plain = (): RestartStrategy<number> => ({
  type: 'plain',
  description: 'plain (attempts 2)',
  initial: () => 0,
  decide: (failures, _failure, { random }) => [
    failures + 1,
    failures < 2 ? restart(Math.floor(random() * 100)) : { restart: false, reason: 'enough' },
  ],
});
const restart = (delayMs: number): RestartDecision => ({ restart: true, delayMs });
const opaque = <S>(strategy: RestartStrategy<S>): RestartStrategy => strategy;

describe('a plain restart strategy', () => {
  restartStrategySuite(test, { create: () => opaque(plain()) });
});

describe('the restart strategy suite finds a strategy', () => {
  const broken: Record<string, [() => RestartStrategy, string]> = {
    'without a description': [
      () => opaque({ ...plain(), description: ' ' }),
      'says its type, and in a description what it is set to',
    ],
    'with a delay that is no whole number': [
      () => opaque({ ...plain(), decide: (n, _, { random }) => [n, restart(random() * 100)] }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'that waits until a moment in the past': [
      () =>
        opaque({
          ...plain(),
          initial: () => 0,
          decide: (at, _, { now }) => [now + 1000, restart(at === 0 ? 0 : at - now)],
        }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'that gives up without a reason': [
      () => opaque({ ...plain(), decide: (n) => [n, { restart: false, reason: '' }] }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'that divides by chance': [
      () => opaque({ ...plain(), decide: (n, _, { random }) => [n, restart(Math.floor(1 / random()))] }),
      'gets along with the smallest and the largest chance',
    ],
    'that counts outside of its state': [
      () => {
        let failures = 0;
        return opaque({
          ...plain(),
          decide: (n) => [n, ++failures < 50 ? restart(0) : { restart: false, reason: 'enough' }],
        });
      },
      'remembers in its state alone: two jobs with one strategy do not notice each other',
    ],
    'that counts over jobs': [
      () => {
        let failures = 0;
        return opaque({ ...plain(), decide: (n) => [n, restart(++failures)] });
      },
      'begins each job afresh',
    ],
    'that throws dice of its own': [
      () => opaque({ ...plain(), decide: (n) => [n, restart(Math.floor(Math.random() * 1e9))] }),
      'decides the same for the same failures and chances',
    ],
    'that changes the state in place': [
      () =>
        opaque<number[]>({
          ...plain(),
          initial: () => [],
          decide: (times, _, { now }) => [(times.push(now), times.slice(-3)), restart(0)],
        }),
      'leaves the state that it is given as it was',
    ],
    'whose state is no plain data': [
      () => {
        class Count {
          readonly n: number;
          constructor(n: number) {
            this.n = n;
          }
          isEnough(): boolean {
            return this.n > 5;
          }
        }
        return opaque<Count>({
          ...plain(),
          initial: () => new Count(0),
          decide: (count) => [new Count(count.n + 1), restart(count.isEnough() ? 1 : 2)],
        });
      },
      'goes on with a copy of its state as with the state itself',
    ],
    'that looks into what was thrown': [
      () => opaque({ ...plain(), decide: (n, failure) => [n, restart((failure as Error).message.length)] }),
      'takes whatever was thrown for a failure',
    ],
    'that changes its mind': [
      () =>
        opaque({ ...plain(), decide: (n) => [n + 1, n % 2 === 0 ? restart(0) : { restart: false, reason: 'odd' }] }),
      'having given up, does not change its mind in the same instant',
    ],
    'that remembers every failure': [
      () =>
        opaque<readonly number[]>({
          ...plain(),
          initial: () => [],
          decide: (times, _, { now }) => [[...times, now], restart(0)],
        }),
      'keeps its state small, however often a job fails',
    ],
  };

  test.each(Object.entries(broken))('%s', async (_, [create, title]) => {
    const { failed } = await runSuite((t) => restartStrategySuite(t, { create }));
    expect(failed.map((failure) => failure.title)).toContain(title);
  });
});
