import { describe, expect, test } from 'vitest';
import { scenarios } from '../../src/operator-harness/scenarios.js';

const crashes = (count: number): readonly number[] =>
  scenarios(count, true)
    .filter(({ name }) => name.startsWith('with a crash right behind a checkpoint'))
    .map(({ markers }) => markers.find(({ kind }) => kind === 'crash')?.at ?? -1);

describe('the scenarios of an input', () => {
  test('have names of their own', () => {
    for (const count of [0, 1, 7, 200]) {
      const names = scenarios(count, true).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('crash before the first record, between any two, and after the last', () => {
    expect(crashes(0)).toEqual([0]);
    expect(crashes(4)).toEqual([0, 1, 2, 3, 4]);
  });

  test('crash at 33 places of a long input, first and last among them', () => {
    const places = crashes(3200);
    expect(places).toHaveLength(33);
    expect(places.slice(0, 2)).toEqual([0, 100]);
    expect(places.at(-1)).toBe(3200);
  });

  test('have neither checkpoints nor crashes where nothing can take them', () => {
    const calm = scenarios(5, false);
    expect(calm.flatMap(({ markers }) => markers)).toEqual([]);
    expect(calm.map(({ name }) => name)).toEqual([
      'all at once',
      'item by item',
      'with slow output',
      'with state values that expire with the callback',
      'at parallelism 2',
      'at parallelism 2, item by item',
      'at parallelism 4',
      'at parallelism 4, item by item',
    ]);
  });

  test('cross every place with a crash behind a checkpoint, later, before any, and twice', () => {
    const at2 = scenarios(5, true).filter(({ name }) => name.endsWith('after 2 of 5 records'));
    expect(at2.map(({ markers }) => markers.map(({ kind, at }) => `${kind} ${String(at)}`).join(', '))).toEqual([
      'checkpoint 2, crash 2',
      'crash 2',
      'checkpoint 1, crash 2',
      'checkpoint 1, crash 2, crash 2',
    ]);
  });

  test('restore into twice and into half the parallelism at every place', () => {
    const [all] = scenarios(3, true).filter(({ name }) => name.startsWith('restored into'));
    expect(all?.parallelism).toEqual([2, 4, 2, 1]);
    expect(all?.markers.filter(({ kind }) => kind === 'stop').map(({ at }) => at)).toEqual([0, 1, 2, 3]);
  });
});
