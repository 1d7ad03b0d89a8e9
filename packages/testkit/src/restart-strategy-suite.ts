import assert from 'node:assert/strict';
import { serialize } from 'node:v8';
import type { Random, RestartDecision, RestartStrategy } from '@weir/core/contracts';
import { seededRandom } from './seeded-random.js';
import type { TestFunction } from './suite.js';

export interface RestartStrategySuiteOptions {
  /** A strategy as a job gets it, new for each test. */
  create(): RestartStrategy;
}

/** What the RestartStrategy contract promises of any strategy. When it restarts is its own matter, and needs tests of its own. */
export function restartStrategySuite(test: TestFunction, options: RestartStrategySuiteOptions): void {
  const create = (): RestartStrategy => options.create();

  test('says its type, and in a description what it is set to', () => {
    const { type, description } = create();
    for (const text of [type, description])
      assert.ok(typeof text === 'string' && text.trim() !== '', 'is an empty text');
  });

  test('answers every failure with a restart after a whole number of milliseconds, or with a reason', () => {
    for (const seed of SEEDS) for (const decision of play(create(), failures(seed), seed)) assertAnswers(decision);
  });

  test('gets along with the smallest and the largest chance', () => {
    for (const chance of [0, 1 - 2 ** -53]) {
      let state = create().initial();
      for (const now of failures(1)) {
        const [next, decision] = create().decide(state, undefined, { now, random: () => chance });
        assertAnswers(decision);
        state = next;
      }
    }
  });

  test('decides the same for the same failures and chances', () => {
    for (const seed of SEEDS) {
      assert.deepEqual(play(create(), failures(seed), seed), play(create(), failures(seed), seed));
    }
  });

  test('remembers in its state alone: two jobs with one strategy do not notice each other', () => {
    const alone = play(create(), failures(1), 1);
    const strategy = create();
    const [random, otherRandom] = [seededRandom(1), seededRandom(2)];
    let [state, otherState] = [strategy.initial(), strategy.initial()];
    const beside = failures(1).map((now) => {
      [otherState] = strategy.decide(otherState, undefined, { now: now + 7, random: otherRandom });
      const [next, decision] = strategy.decide(state, undefined, { now, random });
      state = next;
      return decision;
    });
    assert.deepEqual(beside, alone);
  });

  test('leaves the state that it is given as it was', () => {
    const strategy = create();
    const random = seededRandom(1);
    let state = strategy.initial();
    for (const now of failures(1)) {
      const before = structuredClone(state);
      const [next] = strategy.decide(state, undefined, { now, random });
      assert.deepEqual(state, before);
      state = next;
    }
  });

  test('begins each job afresh', () => {
    const strategy = create();
    const first = play(strategy, failures(1), 1);
    assert.deepEqual(play(strategy, failures(1), 1), first);
  });

  test('goes on with a copy of its state as with the state itself', () => {
    const [strategy, copying] = [create(), create()];
    const [random, copyingRandom] = [seededRandom(3), seededRandom(3)];
    let [state, copied] = [strategy.initial(), copying.initial()];
    for (const now of failures(3)) {
      const [next, decision] = strategy.decide(state, undefined, { now, random });
      const [nextCopied, decisionCopied] = copying.decide(structuredClone(copied), undefined, {
        now,
        random: copyingRandom,
      });
      assert.deepEqual(decisionCopied, decision);
      [state, copied] = [next, nextCopied];
    }
  });

  test('takes whatever was thrown for a failure', () => {
    for (const thrown of [undefined, null, 'text', 5, {}, new Error('boom'), Object.create(null)]) {
      const strategy = create();
      const [, decision] = strategy.decide(strategy.initial(), thrown, { now: 0, random: () => 0.5 });
      assertAnswers(decision);
    }
  });

  test('having given up, does not change its mind in the same instant', () => {
    const strategy = create();
    const random = seededRandom(1);
    let state = strategy.initial();
    for (const now of failures(1)) {
      const [next, decision] = strategy.decide(state, undefined, { now, random });
      state = next;
      if (decision.restart) continue;
      const [, again] = strategy.decide(state, undefined, { now, random });
      assert.equal(again.restart, false, `restarts at ${String(now)}, where it had given up`);
    }
  });

  test('keeps its state small, however often a job fails', () => {
    const strategy = create();
    const random = seededRandom(1);
    let state = strategy.initial();
    let half = 0;
    for (let i = 0; i < 2 * MANY; i++) {
      [state] = strategy.decide(state, undefined, { now: i * 10, random });
      if (i === MANY - 1) half = serialize(state).length;
    }
    const full = serialize(state).length;
    // Numbers grow longer, by a few bytes each.
    assert.ok(
      full <= half * 1.5 + 100,
      `${String(full)} bytes after ${String(2 * MANY)} failures, ${String(half)} after half of them`,
    );
  });
}

const SEEDS = [1, 2, 3, 4, 5];
const MANY = 10_000;

/** Times of failures: at once, soon and long after the one before. */
function failures(seed: number): readonly number[] {
  const random = seededRandom(seed);
  let now = 0;
  return Array.from({ length: 60 }, () => {
    const gaps = [0, 1, 100, 1000, 60_000, 3_600_000, 86_400_000];
    now += gaps[Math.floor(random() * gaps.length)] ?? 0;
    return now;
  });
}

function play(strategy: RestartStrategy, times: readonly number[], seed: number): readonly RestartDecision[] {
  const random: Random = seededRandom(seed);
  let state = strategy.initial();
  return times.map((now) => {
    const [next, decision] = strategy.decide(state, new Error('boom'), { now, random });
    state = next;
    return decision;
  });
}

function assertAnswers(decision: RestartDecision): void {
  if (decision.restart) {
    const { delayMs } = decision;
    assert.ok(Number.isSafeInteger(delayMs) && delayMs >= 0, `delayMs is ${String(delayMs)}`);
  } else {
    assert.ok(typeof decision.reason === 'string' && decision.reason.trim() !== '', 'gives up without a reason');
  }
}
