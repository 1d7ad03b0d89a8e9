import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_MAX_PARALLELISM,
  MAX_MAX_PARALLELISM,
  flinkMurmur,
  keyGroupOf,
  keyGroupRange,
  subtaskOfKeyGroup,
} from '../../src/element/key-group.js';
import { murmur3 } from '../../src/element/key-hash.js';
import { anyKey } from './keys.js';

describe('hashes', () => {
  // Published test values of MurmurHash3_x86_32 with seed 0.
  test.each([
    ['', 0],
    ['a', 0x3c2569b2],
    ['hello', 0x248bfa47],
    ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
  ])('murmur3 of %j is that of the reference', (text, hash) => {
    expect(murmur3(Buffer.from(text)) >>> 0).toBe(hash);
  });

  test.each([
    [0, 593689054, 94, 94],
    [1, 68075478, 86, 198],
    [-1, 1982413648, 80, 208],
    [42, 1134849565, 29, 685],
    [127, 1931274395, 27, 395],
    [2147483647, 1653689534, 62, 14],
    [-2147483648, 1718298732, 108, 12],
  ])('flinkMurmur(%i) is what Flink computes', (input, hash, mod128, mod720) => {
    expect(flinkMurmur(input)).toBe(hash);
    expect(flinkMurmur(input) % 128).toBe(mod128);
    expect(flinkMurmur(input) % 720).toBe(mod720);
  });

  test('flinkMurmur is never negative', () => {
    fc.assert(
      fc.property(fc.integer(), (input) => {
        const hash = flinkMurmur(input);
        expect(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 31).toBe(true);
      }),
    );
  });
});

const parallelisms = fc
  .integer({ min: 1, max: MAX_MAX_PARALLELISM })
  .chain((max) => fc.tuple(fc.integer({ min: 1, max }), fc.constant(max)));

describe('key groups', () => {
  test('of a key lie below the maximum parallelism', () => {
    fc.assert(
      fc.property(anyKey, fc.integer({ min: 1, max: MAX_MAX_PARALLELISM }), (key, max) => {
        const group = keyGroupOf(key, max);
        expect(Number.isInteger(group) && group >= 0 && group < max).toBe(true);
      }),
    );
  });

  test('are owned by exactly one subtask: ranges follow each other without gap or overlap', () => {
    fc.assert(
      fc.property(parallelisms, ([parallelism, max]) => {
        let next = 0;
        for (let subtask = 0; subtask < parallelism; subtask++) {
          const { first, last } = keyGroupRange(subtask, parallelism, max);
          const owners = [first, last].map((group) => subtaskOfKeyGroup(group, parallelism, max));
          // One comparison per subtask: tens of thousands of expectations take seconds.
          if (first !== next || last < first || owners.some((owner) => owner !== subtask))
            expect.fail(`subtask ${subtask}`);
          next = last + 1;
        }
        expect(next).toBe(max);
      }),
      { numRuns: 50 },
    );
  });

  test('of 10,000 keys spread over all subtasks', () => {
    const counts = new Array<number>(4).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const subtask = subtaskOfKeyGroup(keyGroupOf(`user-${i}`, DEFAULT_MAX_PARALLELISM), 4, DEFAULT_MAX_PARALLELISM);
      counts[subtask]!++;
    }
    for (const count of counts) expect(count).toBeGreaterThan(2000);
  });
});
