import { expect, test } from 'vitest';
import { openStore } from '../support/store.js';

test('looking ahead changes nothing that can be seen, for few keys and for many, known and unknown', async () => {
  const { store, value } = await openStore();
  const keyOf = (n: number): string => `key-${String(n)}`;
  for (const size of [10, 20_000]) {
    for (let n = 0; n < size; n++) {
      store.setCurrentKey(keyOf(n));
      value.update(n);
    }
    store.setCurrentKey(keyOf(1));
    store.lookAhead?.([5, 6, size + 1, size + 2], keyOf);
    expect(value.value()).toBe(1);
    expect([...store.entries('value')]).toHaveLength(size);
    store.setCurrentKey(keyOf(size + 1));
    expect(value.value()).toBeUndefined();
  }
  await store.close();
});
