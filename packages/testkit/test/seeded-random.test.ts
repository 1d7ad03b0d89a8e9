import fc from 'fast-check';
import { seededRandom } from '@weir/testkit';
import { expect, test } from 'vitest';

test('a seeded random gives the same numbers for the same seed, all in [0, 1)', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const [one, two] = [seededRandom(seed), seededRandom(seed)];
      for (let i = 0; i < 50; i++) {
        const number = one();
        expect(number).toBe(two());
        expect(number).toBeGreaterThanOrEqual(0);
        expect(number).toBeLessThan(1);
      }
    }),
  );
});

test('a seeded random spreads evenly', () => {
  const random = seededRandom(1);
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) counts[Math.floor(random() * 10)]! += 1;
  for (const count of counts) expect(count).toBeGreaterThan(850);
});
