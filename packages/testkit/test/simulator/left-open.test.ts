import { expect, test } from 'vitest';
import { LeftOpen } from '../../src/simulator/left-open.js';

test('what is opened and not closed is told by its kind; closing twice is closing once', () => {
  const leftOpen = new LeftOpen();
  const closeFirst = leftOpen.opened('captures');
  leftOpen.opened('captures');
  leftOpen.opened('source readers')();
  expect(leftOpen.describe()).toBe('2 captures');
  closeFirst();
  closeFirst();
  expect(leftOpen.describe()).toBe('1 captures');
});

test('nothing is told when everything was closed', () => {
  const leftOpen = new LeftOpen();
  leftOpen.opened('sink writers')();
  expect(leftOpen.describe()).toBeUndefined();
});
