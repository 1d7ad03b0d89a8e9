import { messageOf, type RestartDecision, type RestartStrategy } from '@weir/core/contracts';
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
    'without a type': [() => opaque({ ...plain(), type: '' }), 'says its type, and in a description what it is set to'],
    'whose description is no text': [
      () => opaque({ ...plain(), description: 5 as unknown as string }),
      'says its type, and in a description what it is set to',
    ],
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
    'that leaves the delay out': [
      () => opaque({ ...plain(), decide: (n) => [n, { restart: true } as RestartDecision] }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'that waits for ever': [
      () => opaque({ ...plain(), decide: (n) => [n, restart(Infinity)] }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'whose delay grows beyond every number': [
      () => opaque({ ...plain(), decide: (n) => [n + 1, restart(1000 * 10 ** n)] }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'that decides later': [
      () =>
        opaque({
          ...plain(),
          decide: (n) => [n, Promise.resolve(restart(0)) as unknown as RestartDecision],
        }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'that says neither yes nor no': [
      () => opaque({ ...plain(), decide: (n) => [n, { reason: 'perhaps' } as unknown as RestartDecision] }),
      'answers every failure with a restart after a whole number of milliseconds, or with a reason',
    ],
    'that waits until a moment in fractions of a millisecond': [
      () =>
        opaque({
          ...plain(),
          decide: (n, _, { now }) => [n, restart(Math.ceil(now / 1000) * 1000 + 1000 - now)],
        }),
      'gets along with a clock that begins anywhere, also in fractions',
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
    'that takes its first state for all jobs, and fills it': [
      () => {
        const all = { failures: 0 };
        return opaque<{ failures: number }>({
          ...plain(),
          initial: () => all,
          decide: (mine) => [mine, restart(mine.failures++)],
        });
      },
      'begins each job afresh',
    ],
    'that remembers beside its state what it was asked last': [
      () => {
        let last = -1;
        return opaque({
          ...plain(),
          decide: (n, _, { now }) => [n, restart(now === last ? 0 : ((last = now), 1))],
        });
      },
      'decides the same when it is asked twice with one state',
    ],
    'that looks at the clock on the wall': [
      () => {
        const clock = process.hrtime.bigint;
        return opaque({ ...plain(), decide: (n) => [n, restart(Number(clock() % 1_000_000_007n))] });
      },
      'decides the same for the same failures and chances',
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
    'that makes a text of what was thrown': [
      () => opaque({ ...plain(), decide: (n, failure) => [n, restart(String(failure).length)] }),
      'takes whatever was thrown for a failure',
    ],
    'that asks what was thrown for its message': [
      () =>
        opaque({
          ...plain(),
          decide: (n, failure) => [n, restart(failure instanceof Error ? failure.message.length : 0)],
        }),
      'takes whatever was thrown for a failure',
    ],
    'that keeps what was thrown': [
      () =>
        opaque<unknown>({ ...plain(), initial: () => undefined, decide: (_last, failure) => [failure, restart(0)] }),
      'keeps nothing of what was thrown that could not be kept with the state',
    ],
    'whose state holds a function': [
      () =>
        opaque<() => number>({
          ...plain(),
          initial: () => () => 0,
          decide: (count) => {
            const n = count() + 1;
            return [() => n, restart(n)];
          },
        }),
      'goes on with a copy of its state as with the state itself',
    ],
    'that changes its mind where a checkpoint was completed before': [
      () =>
        opaque({
          ...plain(),
          decide: (n, _, { progressed }) => [n, progressed ? { restart: false, reason: 'odd' } : restart(0)],
        }),
      'having given up, does not change its mind in the same instant',
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
      'keeps its state small, however often a job fails in a burst',
    ],
    'that remembers every failure since the one with which nothing was completed': [
      () =>
        opaque<readonly number[]>({
          ...plain(),
          initial: () => [],
          decide: (times, _, { now, progressed }) => [progressed ? [...times, now] : [], restart(0)],
        }),
      'keeps its state small, however often a job fails once in a while, with checkpoints in between',
    ],
    'that remembers every failure after a rest, while it gets nowhere': [
      () =>
        opaque<{ readonly last: number; readonly rests: readonly number[] }>({
          ...plain(),
          initial: () => ({ last: 0, rests: [] }),
          decide: ({ last, rests }, _, { now, progressed }) => [
            { last: now, rests: now - last < 60_000 ? rests : progressed ? [] : [...rests, now] },
            restart(0),
          ],
        }),
      'keeps its state small, however often a job fails once in a while, without any',
    ],
    'that remembers every message that it has not seen': [
      () =>
        opaque<readonly string[]>({
          ...plain(),
          initial: () => [],
          decide: (seen, failure) => {
            const message = messageOf(failure);
            return [seen.includes(message) ? seen : [...seen, message], restart(0)];
          },
        }),
      'keeps its state small, however often a job fails in a burst',
    ],
  };

  test.each(Object.entries(broken))('%s', async (_, [create, title]) => {
    const { failed } = await runSuite((t) => restartStrategySuite(t, { create }));
    expect(failed.map((failure) => failure.title)).toContain(title);
  });
});
