import { readerContext, sourceSuite } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { collection, crash } from '../../src/collection/index.js';
import { drain } from '../support/reading.js';

const VALUES = Array.from({ length: 57 }, (_, i) => ({ i }));

describe('a collection', () => {
  sourceSuite(test, {
    capabilities: { grade: 'replayable', bounded: true },
    create: () => ({
      source: () => collection(VALUES),
      expected: { collection: VALUES },
      gone: { splitId: 'collection', position: 58 },
    }),
  });
});

const open = (source: ReturnType<typeof collection<number>>, position?: number) =>
  source.open({ id: 'collection' }, position, readerContext());

describe('a crash marker', () => {
  test('fails once, after the records before it, and is passed over from then on', async () => {
    const source = collection<number>([1, 2, crash(), 3]);
    const first = await open(source);
    expect(first.poll(10)).toEqual([1, 2]);
    const position = first.position();
    expect(() => first.poll(10)).toThrow(/crash marker at index 2/);
    expect((await drain(await open(source, position))).records).toEqual([3]);
    expect((await drain(await open(source))).records).toEqual([1, 2, 3]);
  });
  test('fails once each, also several at one place, at the start and at the end', async () => {
    const source = collection<number>([crash(), crash(), 1, crash()]);
    const failures: unknown[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      await open(source)
        .then(drain)
        .catch((error: unknown) => failures.push(error));
    }
    expect(failures).toHaveLength(3);
  });
  test('fails again in another source', async () => {
    const values = [1, crash()];
    for (let run = 0; run < 2; run++)
      await expect(open(collection(values)).then(drain)).rejects.toThrow(/crash marker/);
  });
  test('may come from another package', async () => {
    await expect(open(collection<number>([1, { '~crash': true }])).then(drain)).rejects.toThrow(/crash marker/);
  });
});
