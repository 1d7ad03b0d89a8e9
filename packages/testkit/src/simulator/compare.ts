import { differenceOf, textOf } from '../exactly-once.js';

/** What is wrong with the output of a job that failed, held against that of one that never did; undefined: nothing. */
export function compareOutput(
  actual: readonly unknown[],
  expected: readonly unknown[],
  guarantee: 'exactly-once' | 'at-least-once',
): string | undefined {
  return guarantee === 'exactly-once'
    ? differenceOf(actual, expected)
    : differenceOf(within(actual, expected), expected);
}

/** The records of `actual`, none more often than `expected` has it. */
function within(actual: readonly unknown[], expected: readonly unknown[]): readonly unknown[] {
  const left = new Map<string, number>();
  for (const record of expected) {
    const text = textOf(record);
    left.set(text, (left.get(text) ?? 0) + 1);
  }
  return actual.filter((record) => {
    const text = textOf(record);
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count > 0;
  });
}
