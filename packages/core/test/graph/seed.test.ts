import { describe, expect, test } from 'vitest';
import { seedFunction } from '../../src/operator/seed.js';

class Total {
  n = 0;
}

describe('the seed of scan', () => {
  test('is the value itself, or a copy for each key', () => {
    expect(seedFunction(0)()).toBe(0);
    expect(seedFunction<null | number>(null)()).toBeNull();
    const seed = { sums: new Map([['a', [1]]]) };
    const make = seedFunction(seed);
    const [one, other] = [make(), make()];
    expect(one).toEqual(seed);
    expect(one).not.toBe(other);
    expect(one.sums.get('a')).not.toBe(other.sums.get('a'));
  });

  test('is what a function gives', () => {
    let calls = 0;
    const make = seedFunction(() => ++calls);
    expect([make(), make()]).toEqual([1, 2]);
  });

  test.each([
    ['is missing', undefined, /CONFIG_INVALID.*seed of scan is missing/],
    ['holds a function', { f: () => 1 }, /CONFIG_INVALID.*cannot be copied/],
    ['is of a class', new Total(), /CONFIG_INVALID.*object of a class/],
  ])('that %s is refused when it is given', (_what, seed, message) => {
    expect(() => seedFunction(seed as never)).toThrow(message);
  });
});
