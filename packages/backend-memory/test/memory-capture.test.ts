import { keyGroupOf, type KeyedSection } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { NEVER_OVER, developed, openStore, restoredFrom, valuesOf, type OpenStore } from './support/store.js';

const NOWHERE = { section: (): void => undefined };

function fill({ store, value }: OpenStore, keys: number, content: (i: number) => unknown = (i) => i): void {
  for (let i = 0; i < keys; i++) {
    store.setCurrentKey(i);
    value.update(content(i));
  }
}

/** Writes a capture; how often it asks whether the slice is over, and the most values that it encodes between two times. */
async function asksWhileWriting({ store, serializer }: OpenStore): Promise<{ asked: number; most: number }> {
  let asked = 0;
  let most = 0;
  let last = serializer.encoded;
  await store.capture({ checkpointId: 1, mode: 'full' }).write(NOWHERE, {
    isOver: () => {
      asked++;
      most = Math.max(most, serializer.encoded - last);
      last = serializer.encoded;
      return false;
    },
    next: () => Promise.resolve(),
  });
  return { asked, most };
}

describe('writing a capture', () => {
  test('asks after 64 rows at most whether the slice is over', async () => {
    const opened = await openStore();
    fill(opened, 20_000, (i) => `value ${String(i)}`);
    const { asked, most } = await asksWhileWriting(opened);
    expect(most).toBeLessThanOrEqual(64);
    expect(asked).toBeGreaterThan(20_000 / 64);
  });

  test('asks once per page where all values are numbers, which are quick to write', async () => {
    const opened = await openStore();
    // Several pages of each key group.
    fill(opened, 300_000);
    const { most } = await asksWhileWriting(opened);
    expect(most).toBeGreaterThan(64);
    expect(most).toBeLessThanOrEqual(1024);
  });

  test('asks sooner where rows are large', async () => {
    const opened = await openStore();
    fill(opened, 200, () => 'x'.repeat(10_000));
    const { most } = await asksWhileWriting(opened);
    expect(most).toBeLessThanOrEqual(2);
  });

  test('gives sections of bounded size, also of one list or one map', async () => {
    const opened = await openStore();
    opened.store.setCurrentKey('a');
    for (let i = 0; i < 30_000; i++) opened.list.add(`element ${String(i)}`);
    for (let i = 0; i < 30_000; i++) opened.map.set(i, `value ${String(i)}`);
    const sections = await developed(opened.store.capture({ checkpointId: 1, mode: 'full' }));
    expect(sections.length).toBeGreaterThan(10);
    for (const { rows } of sections) expect(rows.length).toBeLessThan(80_000);
    const { store, list, map } = await restoredFrom(sections);
    store.setCurrentKey('a');
    expect([...list.values()]).toEqual([...opened.list.values()]);
    expect(new Map(map.entries())).toEqual(new Map(opened.map.entries()));
  });

  test('finds all of a hundred thousand keys while they come, change and go', async () => {
    const opened = await openStore();
    fill(opened, 100_000);
    const capture = opened.store.capture({ checkpointId: 1, mode: 'full' });
    const sections: KeyedSection[] = [];
    let turn = 0;
    await capture.write(
      {
        section(section) {
          sections.push({ ...section, rows: Uint8Array.from(section.rows) });
        },
      },
      {
        isOver: () => true,
        async next() {
          turn++;
          for (let i = 0; i < 20; i++) {
            opened.store.setCurrentKey((turn * 7919 + i * 104_729) % 120_000);
            if (i % 3 === 0) opened.value.clear();
            else opened.value.update(-1);
          }
        },
      },
    );
    capture.release();
    const { store } = await restoredFrom(sections);
    const values = valuesOf(store);
    expect(values.size).toBe(100_000);
    for (let i = 0; i < 100_000; i++)
      if (values.get(i) !== i) throw new Error(`key ${String(i)} is ${String(values.get(i))}`);
  });

  test('gives the same keys before and after there are too many to keep them encoded', async () => {
    const opened = await openStore();
    const put = (from: number, to: number): void => {
      for (let i = from; i < to; i++) {
        opened.store.setCurrentKey(`key ${String(i)}`);
        opened.value.update(i);
      }
    };
    for (const [from, to] of [
      [0, 100_000],
      [100_000, 140_000],
    ] as const) {
      put(from, to);
      for (const checkpointId of [2 * to, 2 * to + 1]) {
        const { store } = await restoredFrom(await developed(opened.store.capture({ checkpointId, mode: 'full' })));
        const wrong = [...store.entries('value')].filter(
          (entry) => entry.kind !== 'value' || entry.key !== `key ${String(entry.value)}`,
        );
        expect(wrong).toEqual([]);
        expect([...store.entries('value')].length).toBe(to);
      }
    }
  });

  test('asks also where there is nothing to write', async () => {
    const { store } = await openStore();
    let asked = 0;
    const isOver = (): boolean => ++asked % 2 === 0;
    await store.capture({ checkpointId: 1, mode: 'full' }).write(NOWHERE, { isOver, next: () => Promise.resolve() });
    expect(asked).toBeGreaterThanOrEqual(128);
  });

  test.each([64, 65, 255, 256, 257, 512, 513, 514])('gives a list of %i elements whole', async (length) => {
    const opened = await openStore();
    opened.store.setCurrentKey('a');
    for (let i = 0; i < length; i++) opened.list.add(i);
    const { store, list } = await restoredFrom(
      await developed(opened.store.capture({ checkpointId: 1, mode: 'full' })),
    );
    store.setCurrentKey('a');
    expect([...list.values()]).toEqual([...Array(length).keys()]);
  });

  test('ends when the capture is released meanwhile', async () => {
    const opened = await openStore();
    fill(opened, 1000);
    const capture = opened.store.capture({ checkpointId: 7, mode: 'full' });
    let sections = 0;
    const writing = capture.write(
      {
        section() {
          sections++;
        },
      },
      {
        isOver: () => true,
        async next() {
          capture.release();
        },
      },
    );
    await expect(writing).rejects.toThrow(/CHECKPOINT_FAILED: .*checkpoint 7 was released before it was written/);
    expect(sections).toBeLessThan(5);
    opened.store.setCurrentKey(1);
    expect(opened.value.value()).toBe(1);
  });

  test('ends when the store is closed meanwhile', async () => {
    const opened = await openStore();
    fill(opened, 1000);
    const writing = opened.store
      .capture({ checkpointId: 7, mode: 'full' })
      .write(NOWHERE, { isOver: () => true, next: async () => opened.store.close() });
    await expect(writing).rejects.toThrow(/PROTOCOL_VIOLATION/);
  });

  test('is done once, and not after the release', async () => {
    const { store } = await openStore();
    const capture = store.capture({ checkpointId: 1, mode: 'full' });
    await capture.write(NOWHERE, NEVER_OVER);
    await expect(capture.write(NOWHERE, NEVER_OVER)).rejects.toThrow(/PROTOCOL_VIOLATION/);
    const released = store.capture({ checkpointId: 2, mode: 'full' });
    released.release();
    await expect(released.write(NOWHERE, NEVER_OVER)).rejects.toThrow(/CHECKPOINT_FAILED/);
  });
});

describe('memory that captures hold', () => {
  test('counts collections that only they keep alive, until they are written', async () => {
    const opened = await openStore({ preservedBytes: 100_000 });
    const { store, list, map } = opened;
    store.setCurrentKey('a');
    for (let i = 0; i < 2000; i++) list.add(i);
    for (let i = 0; i < 2000; i++) map.set(i, i);
    const capture = store.capture({ checkpointId: 1, mode: 'full' });
    list.add(1);
    expect(store.isOverBudget()).toBe(false);
    list.clear();
    expect(store.isOverBudget()).toBe(true);
    await capture.write(NOWHERE, NEVER_OVER);
    expect(store.isOverBudget()).toBe(false);
    capture.release();

    const another = store.capture({ checkpointId: 2, mode: 'full' });
    map.clear();
    expect(store.isOverBudget()).toBe(true);
    another.release();
    expect(store.isOverBudget()).toBe(false);
  });

  test('adds up over captures, and goes with each', async () => {
    const opened = await openStore({ preservedBytes: 25_000 });
    opened.store.setCurrentKey('a');
    opened.value.update('x'.repeat(10_000));
    const captures = [1, 2, 3].map((checkpointId) => opened.store.capture({ checkpointId, mode: 'full' }));
    opened.value.update('');
    expect(opened.store.isOverBudget()).toBe(true);
    captures[1]!.release();
    expect(opened.store.isOverBudget()).toBe(false);
  });

  test('is counted beyond the size of a section', async () => {
    const opened = await openStore({ preservedBytes: 150_000 });
    const keys = [...Array(2000).keys()].filter((key) => keyGroupOf(key, 128) === 0).slice(0, 5);
    const update = (text: string): void => {
      for (const key of keys) {
        opened.store.setCurrentKey(key);
        opened.value.update(text);
      }
    };
    update('x'.repeat(40_000));
    opened.store.capture({ checkpointId: 1, mode: 'full' });
    update('');
    expect(opened.store.isOverBudget()).toBe(true);
  });

  test('is none where a capture has failed', async () => {
    const opened = await openStore({ preservedBytes: 1000 });
    fill(opened, 300);
    opened.store.setCurrentKey('bad');
    opened.value.update(() => undefined);
    const capture = opened.store.capture({ checkpointId: 1, mode: 'full' });
    fill(opened, 100);
    expect(opened.store.isOverBudget()).toBe(true);
    opened.store.setCurrentKey('bad');
    opened.value.update(1);
    expect(opened.store.isOverBudget()).toBe(false);
    fill(opened, 300);
    expect(opened.store.isOverBudget()).toBe(false);
    await expect(capture.write(NOWHERE, NEVER_OVER)).rejects.toThrow(/VALUE_NOT_SERIALIZABLE/);
  });
});
