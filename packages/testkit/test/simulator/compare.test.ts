import { expect, test } from 'vitest';
import { compareOutput } from '../../src/simulator/compare.js';

test('exactly once: neither more nor less than the run without faults, in any order', () => {
  expect(compareOutput(['b', 'a', 'a'], ['a', 'a', 'b'], 'exactly-once')).toBeUndefined();
  expect(compareOutput(['a', 'b'], ['a', 'a', 'b'], 'exactly-once')).toContain('1 lost');
  expect(compareOutput(['a', 'b', 'b'], ['a', 'b'], 'exactly-once')).toContain('1 duplicated');
  expect(compareOutput(['a', 'c'], ['a'], 'exactly-once')).toContain('1 unexpected');
});

test('at least once: nothing is missing, and each as often as it should be there', () => {
  expect(compareOutput(['a', 'a', 'b', 'c'], ['a', 'b'], 'at-least-once')).toBeUndefined();
  expect(compareOutput(['a', 'b', 'b'], ['a', 'a', 'b'], 'at-least-once')).toContain('1 lost');
});
