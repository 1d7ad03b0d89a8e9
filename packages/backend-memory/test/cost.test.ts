import { describe, expect, test } from 'vitest';
import { developed, openStore, restoredFrom, type OpenStore } from './support/store.js';

/** How many values `work` encodes. */
function encodedBy({ serializer }: OpenStore, work: () => void): number {
  const before = serializer.encoded;
  work();
  return serializer.encoded - before;
}

describe('taking a capture', () => {
  test('encodes nothing, however much there is', async () => {
    const opened = await openStore();
    for (let i = 0; i < 1000; i++) {
      opened.store.setCurrentKey(i);
      opened.value.update(i);
      opened.list.add({ i });
      opened.map.set(i, { i });
    }
    expect(encodedBy(opened, () => opened.store.capture({ checkpointId: 1, mode: 'full' }))).toBe(0);
  });
});

describe('after a capture', () => {
  test('a value is encoded once, at its first change, and for every capture that has to have it', async () => {
    const opened = await openStore();
    opened.store.setCurrentKey('a');
    opened.value.update(1);
    const touch = (): number =>
      encodedBy(opened, () => {
        opened.value.update(2);
      });
    expect(touch()).toBe(0);
    const first = opened.store.capture({ checkpointId: 1, mode: 'full' });
    expect(touch()).toBe(1);
    expect(touch()).toBe(0);
    const second = opened.store.capture({ checkpointId: 2, mode: 'full' });
    const third = opened.store.capture({ checkpointId: 3, mode: 'full' });
    // And once to have the page ready for those to come.
    expect(touch()).toBe(3);
    for (const capture of [first, second, third]) expect(encodedBy(opened, () => void developed(capture))).toBe(0);
    expect(touch()).toBe(0);
  });

  test('reading a number or a string encodes nothing, reading an object does once', async () => {
    const opened = await openStore();
    for (const [key, value] of [
      ['number', 1],
      ['string', 'text'],
      ['object', {}],
    ] as const) {
      opened.store.setCurrentKey(key);
      opened.value.update(value);
      opened.list.add(value);
      opened.map.set('k', value);
    }
    opened.store.capture({ checkpointId: 1, mode: 'full' });
    const read = (key: string): number =>
      encodedBy(opened, () => {
        opened.store.setCurrentKey(key);
        opened.value.value();
        opened.list.values();
        opened.map.get('k');
      });
    expect(read('number')).toBe(0);
    expect(read('string')).toBe(0);
    expect(read('object')).toBe(3);
    expect(read('object')).toBe(0);
  });

  test('what is new is not encoded for captures that are older', async () => {
    const opened = await openStore();
    const capture = opened.store.capture({ checkpointId: 1, mode: 'full' });
    opened.store.setCurrentKey('a');
    const encoded = encodedBy(opened, () => {
      for (let i = 0; i < 3; i++) {
        opened.value.update(i);
        opened.list.add(i);
        opened.map.set('k', i);
      }
    });
    expect(encoded).toBe(0);
    expect(await developed(capture)).toEqual([]);
  });

  test.each(['add', 'clear'] as const)('%s of a long list encodes nothing of it', async (method) => {
    const opened = await openStore();
    opened.store.setCurrentKey('a');
    for (let i = 0; i < 10_000; i++) opened.list.add(i);
    const captures = [
      opened.store.capture({ checkpointId: 1, mode: 'full' }),
      opened.store.capture({ checkpointId: 2, mode: 'full' }),
    ];
    expect(encodedBy(opened, () => opened.list[method](0))).toBe(0);
    opened.list.add('later');
    for (const capture of captures) {
      const { store, list } = await restoredFrom(await developed(capture));
      store.setCurrentKey('a');
      expect([...list.values()]).toEqual([...Array(10_000).keys()]);
    }
  });

  test('a large map is encoded by the entries that are touched, and cleared without', async () => {
    const opened = await openStore();
    opened.store.setCurrentKey('a');
    for (let i = 0; i < 10_000; i++) opened.map.set(i, { i });
    const capture = opened.store.capture({ checkpointId: 1, mode: 'full' });
    const encoded = encodedBy(opened, () => {
      opened.map.set(1, 'set');
      opened.map.get(2);
      opened.map.delete(3);
      opened.map.set('new', 1);
      opened.map.clear();
      opened.map.set(4, 'anew');
    });
    expect(encoded).toBe(3);
    const { store, map } = await restoredFrom(await developed(capture));
    store.setCurrentKey('a');
    expect(new Map(map.entries())).toEqual(new Map(Array.from({ length: 10_000 }, (_, i) => [i, { i }])));
    expect([...opened.map.entries()]).toEqual([[4, 'anew']]);
  });
});

test('once all captures are released, nothing is encoded any more', async () => {
  const opened = await openStore();
  opened.store.setCurrentKey('a');
  opened.value.update({});
  opened.store.capture({ checkpointId: 1, mode: 'full' }).release();
  await developed(opened.store.capture({ checkpointId: 2, mode: 'full' }));
  expect(
    encodedBy(opened, () => {
      opened.value.value();
      opened.value.update(1);
    }),
  ).toBe(0);
});
