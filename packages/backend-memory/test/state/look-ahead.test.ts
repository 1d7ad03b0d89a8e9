import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStore, valuesOf, type OpenStore } from '../support/store.js';

const keyOf = (n: number): string => `key-${String(n)}`;
/** As many as make looking ahead worth while. */
const MANY = 20_000;

async function filled(size: number): Promise<OpenStore> {
  const opened = await openStore();
  for (let n = 0; n < size; n++) {
    opened.store.setCurrentKey(keyOf(n));
    opened.value.update(n);
  }
  return opened;
}

test.each([10, MANY])('looking ahead among %i keys changes nothing that can be seen', async (size) => {
  const { store, value } = await filled(size);
  store.setCurrentKey(keyOf(1));
  const keys = [5, 6, size + 1, size + 2].map(keyOf);
  store.lookAhead?.(keys);
  expect(value.value()).toBe(1);
  expect(valuesOf(store).size).toBe(size);
  store.setCurrentKey(keyOf(6), 1);
  expect(value.value()).toBe(6);
  store.setCurrentKey(keyOf(size + 1), 2);
  expect(value.value()).toBeUndefined();
  await store.close();
});

test('an entry that took the place of a removed one is not mistaken for it', async () => {
  const { store, value } = await filled(MANY);
  store.lookAhead?.([keyOf(5), keyOf(MANY), keyOf(5)]);
  store.setCurrentKey(keyOf(5), 0);
  value.clear();
  store.setCurrentKey(keyOf(MANY), 1);
  value.update('new');
  store.setCurrentKey(keyOf(5), 2);
  expect(value.value()).toBeUndefined();
  await store.close();
});

test('batches that read, create, remove and create again do the same with and without looking ahead', async () => {
  const step = fc.record({ key: fc.nat({ max: 12 }), action: fc.constantFrom('add', 'clear', 'read') });
  const first = await filled(MANY);
  const second = await filled(MANY);
  const work = ({ value }: OpenStore, action: string): unknown => {
    if (action === 'add') value.update(((value.value() as number | undefined) ?? 0) + 1);
    else if (action === 'clear') value.clear();
    return value.value();
  };
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 40 }), { maxLength: 5 }), (batches) => {
      for (const batch of batches) {
        // Keys at the end of those that exist, and behind it.
        const keys = batch.map(({ key }) => keyOf(MANY - 6 + key));
        first.store.lookAhead?.(keys);
        for (const [place, { action }] of batch.entries()) {
          first.store.setCurrentKey(keys[place]!, place);
          second.store.setCurrentKey(keys[place]!);
          expect(work(first, action)).toBe(work(second, action));
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(valuesOf(first.store)).toEqual(valuesOf(second.store));
  await first.store.close();
  await second.store.close();
});
