import assert from 'node:assert/strict';
import { serialize } from 'node:v8';
import type { FailureContext, Random, RestartDecision, RestartStrategy } from '@weir/core/contracts';
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
      for (const failure of failures(1)) {
        const [next, decision] = create().decide(state, undefined, { ...failure, random: () => chance });
        assertAnswers(decision);
        state = next;
      }
    }
  });

  test('gets along with a clock that begins anywhere, also in fractions', () => {
    for (const begin of [0, 0.1, 1234.567, 2 ** 50 + 0.125]) {
      const strategy = create();
      const random = seededRandom(1);
      let state = strategy.initial();
      for (const { now, progressed } of failures(1)) {
        const [next, decision] = strategy.decide(state, undefined, { now: begin + now, progressed, random });
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
    const beside = failures(1).map((failure) => {
      [otherState] = strategy.decide(otherState, boom(), { ...failure, now: failure.now + 7, random: otherRandom });
      const [next, decision] = strategy.decide(state, boom(), { ...failure, random });
      state = next;
      return decision;
    });
    assert.deepEqual(beside, alone);
  });

  test('leaves the state that it is given as it was', () => {
    const strategy = create();
    const random = seededRandom(1);
    let state = strategy.initial();
    for (const failure of failures(1)) {
      const before = structuredClone(state);
      const [next] = strategy.decide(state, boom(), { ...failure, random });
      assert.deepEqual(state, before);
      state = next;
    }
  });

  test('decides the same when it is asked twice with one state', () => {
    const strategy = create();
    let state = strategy.initial();
    failures(2).forEach((failure, nth) => {
      const ask = (): readonly [unknown, RestartDecision] =>
        strategy.decide(state, boom(), { ...failure, random: seededRandom(nth) });
      const [first, again] = [ask(), ask()];
      assert.deepEqual(again, first);
      [state] = first;
    });
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
    for (const failure of failures(3)) {
      const [next, decision] = strategy.decide(state, boom(), { ...failure, random });
      const [nextCopied, decisionCopied] = copying.decide(structuredClone(copied), boom(), {
        ...failure,
        random: copyingRandom,
      });
      assert.deepEqual(decisionCopied, decision);
      [state, copied] = [next, nextCopied];
    }
  });

  test('takes whatever was thrown for a failure', () => {
    for (const thrown of [
      undefined,
      null,
      'text',
      5,
      5n,
      Symbol('thrown'),
      {},
      boom(),
      Object.create(null),
      hostile(),
    ]) {
      const strategy = create();
      const [state, decision] = strategy.decide(strategy.initial(), thrown, AT_ONCE);
      assertAnswers(decision);
      const [, again] = strategy.decide(state, thrown, { ...AT_ONCE, now: 100_000 });
      assertAnswers(again);
    }
  });

  test('keeps nothing of what was thrown that could not be kept with the state', () => {
    const strategy = create();
    const thrown = { message: 'boom', close: () => undefined };
    const [state] = strategy.decide(strategy.initial(), thrown, AT_ONCE);
    structuredClone(state);
  });

  test('having given up, does not change its mind in the same instant', () => {
    const strategy = create();
    const random = seededRandom(1);
    let state = strategy.initial();
    for (const failure of failures(1)) {
      const [next, decision] = strategy.decide(state, boom(), { ...failure, random });
      state = next;
      if (decision.restart) continue;
      const [, again] = strategy.decide(state, boom(), { ...failure, progressed: false, random });
      assert.equal(again.restart, false, `restarts at ${String(failure.now)}, where it had given up`);
    }
  });

  // Each kind of job that fails for ever: one failure or ever others, in a burst or with rests, with checkpoints between or without.
  for (const [kind, { gapMs, progressed }] of Object.entries(FOR_EVER)) {
    test(`keeps its state small, however often a job fails ${kind}`, () => {
      const strategy = create();
      const random = seededRandom(1);
      let state = strategy.initial();
      let half = 0;
      for (let i = 0; i < 2 * MANY; i++) {
        const failure = new Error(`boom ${String(i)}`);
        [state] = strategy.decide(state, failure, { now: i * gapMs, progressed, random });
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
}

const SEEDS = [1, 2, 3, 4, 5];
const MANY = 10_000;
const AT_ONCE: FailureContext = { now: 0, random: () => 0.5, progressed: false };
const FOR_EVER = {
  'in a burst': { gapMs: 10, progressed: false },
  'once in a while, with checkpoints in between': { gapMs: 600_000, progressed: true },
  'once in a while, without any': { gapMs: 600_000, progressed: false },
} as const;

interface Failure {
  readonly now: number;
  readonly progressed: boolean;
}

const boom = (): Error => new Error('boom');

/** An error that does not let itself be read. */
function hostile(): unknown {
  return new Proxy(new Error('hidden'), {
    get() {
      throw new Error('it was looked into');
    },
  });
}

/** Times of failures: at once, soon and long after the one before, with a completed checkpoint in between or without. */
function failures(seed: number): readonly Failure[] {
  const random = seededRandom(seed);
  let now = 0;
  return Array.from({ length: 60 }, () => {
    const gaps = [0, 1, 100, 1000, 60_000, 3_600_000, 86_400_000];
    const gap = gaps[Math.floor(random() * gaps.length)] ?? 0;
    now += gap;
    return { now, progressed: gap > 0 && random() < 0.5 };
  });
}

function play(strategy: RestartStrategy, times: readonly Failure[], seed: number): readonly RestartDecision[] {
  const random: Random = seededRandom(seed);
  let state = strategy.initial();
  return times.map((failure) => {
    const [next, decision] = strategy.decide(state, boom(), { ...failure, random });
    state = next;
    return decision;
  });
}

function assertAnswers(decision: RestartDecision): void {
  // What a plugin without types returns need not be of its type.
  const { restart } = decision as { readonly restart: unknown };
  assert.ok(typeof restart === 'boolean', `restart is ${String(restart)}`);
  if (decision.restart) {
    const { delayMs } = decision;
    assert.ok(Number.isSafeInteger(delayMs) && delayMs >= 0, `delayMs is ${String(delayMs)}`);
  } else {
    assert.ok(typeof decision.reason === 'string' && decision.reason.trim() !== '', 'gives up without a reason');
  }
}
