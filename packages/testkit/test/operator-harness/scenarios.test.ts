import { describe, expect, test } from 'vitest';
import { crashesOneByOne, scenarios } from '../../src/operator-harness/scenarios.js';

const crashes = (count: number): readonly number[] =>
  scenarios(count, true)
    .filter(({ name }) => name === 'with a checkpoint and a crash between any two records')
    .flatMap(({ markers }) => markers.filter(({ kind }) => kind === 'crash').map(({ at }) => at));

describe('the scenarios of an input', () => {
  test('have names of their own', () => {
    for (const count of [0, 1, 7, 200]) {
      for (const made of [scenarios(count, true), crashesOneByOne(count)]) {
        const names = made.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
      }
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

  test('cross every place with a crash behind a checkpoint, later, before any, and twice, where it is asked which of them fails', () => {
    const at2 = crashesOneByOne(5).filter(({ name }) => name.endsWith('after 2 of 5 records'));
    expect(at2.map(({ markers }) => markers.map(({ kind, at }) => `${kind} ${String(at)}`).join(', '))).toEqual([
      'checkpoint 2, crash 2',
      'crash 2',
      'checkpoint 1, crash 2',
      'checkpoint 1, crash 2, crash 2',
    ]);
  });

  test('try a crash behind a longer past, before any checkpoint and twice in a row', () => {
    const single = scenarios(10, true).filter(({ name }) => name.includes('after'));
    expect(single.map(({ name }) => name)).toEqual([
      'with a crash right behind a checkpoint, after 5 of 10 records',
      'with a crash before any checkpoint, after 5 of 10 records',
      'with a crash before any checkpoint, after 10 of 10 records',
      'with two crashes in a row, after 5 of 10 records',
    ]);
  });

  test('are no more for a long input', () => {
    expect(scenarios(1000, true)).toHaveLength(scenarios(10, true).length);
  });

  test('restore into twice and into half the parallelism, with a record to read again at every other place', () => {
    const [all] = scenarios(3, true).filter(({ name }) => name.startsWith('restored into'));
    expect(all?.parallelism).toEqual([2, 4, 2, 1]);
    expect(all?.markers.map(({ kind, at }) => `${kind} ${String(at)}`)).toEqual([
      'checkpoint 0',
      'stop 0',
      'checkpoint 0',
      'stop 1',
      'checkpoint 2',
      'stop 2',
      'checkpoint 2',
      'stop 3',
    ]);
  });
});
