import { expect, test } from 'vitest';
import { assertExactlyOnce } from '../src/index.js';

test('the same records in another order are exactly once', () => {
  assertExactlyOnce([{ a: 1, b: 2 }, 'x', 0], [0, { b: 2, a: 1 }, 'x']);
});

test('what is lost, duplicated and unexpected is counted and shown', () => {
  expect(() => {
    assertExactlyOnce([1, 1, 1, 2, 7], [1, 2, 2, 3]);
  }).toThrow('2 lost (2, 3); 2 duplicated (1, 1); 1 unexpected (7)');
});

test('values that only look alike at first sight are told apart', () => {
  const pairs = [
    [0, -0],
    [1, '1'],
    [1, 1n],
    [undefined, null],
    [[], {}],
    [new Map([[1, { a: 1 }]]), new Map([[1, { a: 2 }]])],
    [{ deep: [[[[[1]]]]] }, { deep: [[[[[2]]]]] }],
  ];
  for (const [a, b] of pairs) {
    expect(() => {
      assertExactlyOnce([a], [b]);
    }).toThrow('1 lost');
  }
});

test('a long list is shown in part', () => {
  expect(() => {
    assertExactlyOnce([], Array(200).fill('same'));
  }).toThrow(/^200 lost \('same', .*, \.\.\.\)$/);
});
