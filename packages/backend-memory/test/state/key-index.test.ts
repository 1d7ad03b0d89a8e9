import { seededRandom } from '@weir/testkit';
import { expect, test } from 'vitest';
import { KeyIndex } from '../../src/state/key-index.js';

test('finds what a Map would find, while it is small, while its keys move, and when it is large', () => {
  const random = seededRandom(11);
  const index = new KeyIndex();
  const model = new Map<string | number, number>();
  const keyOf = (n: number): string | number => (n % 2 === 0 ? `key-${String(n)}` : n);
  let slot = 0;
  const add = (n: number): void => {
    if (model.has(keyOf(n))) return;
    index.set(keyOf(n), slot);
    model.set(keyOf(n), slot++);
  };
  const remove = (n: number): void => {
    if (!model.delete(keyOf(n))) return;
    index.delete(keyOf(n));
  };
  const check = (below: number): void => {
    for (let i = 0; i < 2000; i++) {
      const key = keyOf(Math.floor(random() * below));
      expect(index.get(key)).toBe(model.get(key));
    }
  };

  // 131,072 keys fit into one Map; the next ones begin to spread them, four at a time.
  for (let n = 0; n < 131_072; n++) add(n);
  check(140_000);
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < 1500; i++) {
      const n = Math.floor(random() * 250_000);
      if (random() < 0.3) remove(n);
      else add(n);
    }
    check(250_000);
  }
  for (const [key, wanted] of model) if (index.get(key) !== wanted) expect.unreachable(`${String(key)} was lost`);
  for (const key of [...model.keys()]) {
    index.delete(key);
    expect(index.get(key)).toBeUndefined();
  }
});
