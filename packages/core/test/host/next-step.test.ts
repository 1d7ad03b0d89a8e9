import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextStep, STEPS, type NextStep, type SubtaskConditions } from '../../src/host/next-step.js';

const RUNNING: SubtaskConditions = {
  isRunning: true,
  isWaiting: false,
  isSuspended: false,
  hasDemand: true,
  maySend: true,
  isHeld: false,
  isAtStopBarrier: false,
  isOvertaken: false,
  isDraining: false,
  isSource: false,
  hasBarrier: false,
  hasEnding: false,
  mayLeave: false,
  isOverBudget: false,
};

/** Everything that may be so at once, and says nothing else. */
const AT_ONCE = {
  isWaiting: true,
  isSuspended: true,
  isHeld: true,
  isAtStopBarrier: true,
  isOvertaken: true,
  hasBarrier: true,
  hasEnding: true,
  mayLeave: true,
  isOverBudget: true,
  hasDemand: false,
  maySend: false,
} satisfies Partial<SubtaskConditions>;

type Row = readonly [step: NextStep, conditions: Partial<SubtaskConditions>];

const TABLE: readonly Row[] = [
  ['stand-still', { ...AT_ONCE, isRunning: false }],
  ['wait', AT_ONCE],
  ['wait-for-demand', { ...AT_ONCE, isWaiting: false }],
  ['resume', { ...AT_ONCE, isWaiting: false, maySend: true }],
  ['wait-for-hold', { ...AT_ONCE, isWaiting: false, isSuspended: false }],
  ['log-feedback', { isAtStopBarrier: true, isOvertaken: true, hasBarrier: true, hasEnding: true }],
  ['overtake', { isOvertaken: true, isDraining: true, isSource: true, hasEnding: true, mayLeave: true }],
  ['end-source', { isDraining: true, isSource: true, hasBarrier: true, hasEnding: true }],
  ['checkpoint', { hasBarrier: true, hasEnding: true, mayLeave: true, hasDemand: false, maySend: false }],
  ['checkpoint', { hasBarrier: true, isSource: true }],
  ['end-input', { hasEnding: true, isDraining: true, hasBarrier: true, isOverBudget: true }],
  ['leave', { mayLeave: true, hasDemand: false, maySend: false }],
  ['advance-control', { hasDemand: false, maySend: false }],
  ['advance-control', { hasDemand: false, maySend: true, isDraining: true, hasBarrier: true }],
  ['advance-control', { isOverBudget: true }],
  ['advance', { isDraining: true, hasBarrier: true }],
  ['advance', {}],
];

const anyConditions = fc.record(
  Object.fromEntries(Object.keys(RUNNING).map((name) => [name, fc.boolean()])) as {
    readonly [name in keyof SubtaskConditions]: fc.Arbitrary<boolean>;
  },
);

describe('the next step of a subtask', () => {
  test.each(TABLE)('%s, with %j', (step, conditions) => {
    expect(nextStep({ ...RUNNING, ...conditions })).toBe(step);
  });

  test('is tried for every name that a step has, and each says what it means', () => {
    expect(new Set(TABLE.map(([step]) => step))).toEqual(new Set(Object.keys(STEPS)));
    for (const sentence of Object.values(STEPS)) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  test('is one of the named ones whatever is so, and the same each time', () => {
    fc.assert(
      fc.property(anyConditions, (conditions) => {
        const frozen = Object.freeze({ ...conditions });
        const step = nextStep(frozen);
        expect(Object.keys(STEPS)).toContain(step);
        expect(nextStep(frozen)).toBe(step);
      }),
    );
  });

  test('moves nothing while an operator waits, or is held', () => {
    fc.assert(
      fc.property(anyConditions, (conditions) => {
        expect(['stand-still', 'wait']).toContain(nextStep({ ...conditions, isWaiting: true }));
        const held = nextStep({ ...conditions, isWaiting: false, isHeld: true });
        expect(['stand-still', 'resume', 'wait-for-demand', 'wait-for-hold']).toContain(held);
      }),
    );
  });

  test('takes no record without demand', () => {
    fc.assert(
      fc.property(anyConditions, (conditions) => {
        expect(nextStep({ ...conditions, hasDemand: false })).not.toBe('advance');
      }),
    );
  });
});
