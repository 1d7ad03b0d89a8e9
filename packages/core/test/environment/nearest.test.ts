import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from '../../src/environment/nearest.js';

test('a typing error leads to the word that was meant', () => {
  expect(nearest('intervall', ['timeout', 'interval', 'mode'])).toBe('interval');
  expect(nearest('MODE', ['timeout', 'interval', 'mode'])).toBe('mode');
  expect(nearest('dri', ['mapSize', 'dir'])).toBe('dir');
});

test('there is no nearest of nothing, nor among names that are all unlike', () => {
  expect(nearest('x', [])).toBeUndefined();
  expect(nearest('taskmanager.numberOfTaskSlots', ['task.cancellation.timeout', 'io.tmp.dirs'])).toBeUndefined();
  expect(nearest('io.tmp.dir', ['task.cancellation.timeout', 'io.tmp.dirs'])).toBe('io.tmp.dirs');
});

test('one changed letter is nearer than a word without any of the letters', () => {
  const word = fc.stringMatching(/^[a-m]{3,12}$/);
  fc.assert(
    fc.property(word, fc.stringMatching(/^[n-z]{12}$/), fc.nat(), (meant, other, at) => {
      const i = at % meant.length;
      const typed = `${meant.slice(0, i)}-${meant.slice(i + 1)}`;
      expect(nearest(typed, [other, meant])).toBe(meant);
    }),
  );
});
