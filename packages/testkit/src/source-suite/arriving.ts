import assert from 'node:assert/strict';
import type { SourceSplit } from '@weir/core/contracts';
import { take, type ArrivingRecords, type SourceBench, type SourceCheck } from './fixture.js';
import { openReader, read, readAll } from './reading.js';

/** What arrives between a checkpoint and the next start is there: a source that begins at "now" begins there once. */
export function arrivingChecks<T>(check: SourceCheck<T>): void {
  const arriving = (
    title: string,
    body: (bench: SourceBench<T>, arriving: ArrivingRecords<T>) => Promise<void>,
  ): void => {
    check(title, async (bench) => {
      if (bench.fixture.arriving !== undefined) await body(bench, bench.fixture.arriving);
    });
  };

  arriving(
    'has what arrives while it is down, although it was opened and nothing was read before',
    async (bench, more) => {
      const split = await splitOf(bench, more.splitId);
      const reader = await openReader(bench.fixture, split);
      const position = bench.stored(reader.position());
      await reader.close();
      await more.arrive();
      await hasAll(bench, more, bench.stored(split), position);
    },
  );

  arriving(
    'has what arrives while it is down, behind what was read and a poll that brought nothing',
    async (bench, more) => {
      const { fixture, stored } = bench;
      const split = await splitOf(bench, more.splitId);
      const reader = await openReader(fixture, split);
      const { length } = fixture.expected[more.splitId] ?? [];
      await read(fixture, reader, 1024, length);
      const outstanding = Promise.resolve(reader.poll(1024)).catch(() => []);
      const idle = stored(reader.position());
      await reader.close();
      await outstanding;
      const positions = [idle, stored(reader.position())];
      await more.arrive();
      for (const position of positions) {
        const { records } = await readAll(fixture, stored(split), { position, limit: more.records.length });
        assert.deepEqual(records, more.records);
      }
    },
  );

  arriving(
    'has what arrives while it is down, although its split was dealt out and not opened',
    async (bench, more) => {
      const split = bench.stored(await splitOf(bench, more.splitId));
      await more.arrive();
      await hasAll(bench, more, split, undefined);
    },
  );

  arriving('has what arrives while it is down, although its split was not dealt out', async (bench, more) => {
    const before = await bench.enumerate();
    const snapshot = bench.stored(before.snapshot());
    await before.close();
    await more.arrive();
    const after = await bench.enumerate(snapshot);
    const split = take(after, bench.ids.length).find(({ id }) => id === more.splitId);
    assert(split, `split ${more.splitId} is dealt out`);
    await hasAll(bench, more, split, undefined);
    await after.close();
  });
}

async function splitOf<T>({ splits }: SourceBench<T>, id: string): Promise<SourceSplit> {
  const split = (await splits()).find((dealt) => dealt.id === id);
  assert(split, `split ${id} of the fixture exists`);
  return split;
}

async function hasAll<T>(
  { fixture }: SourceBench<T>,
  { splitId, records: more }: ArrivingRecords<T>,
  split: SourceSplit,
  position: unknown,
): Promise<void> {
  const all = [...(fixture.expected[splitId] ?? []), ...more];
  const { records } = await readAll(fixture, split, { position, limit: all.length });
  assert.deepEqual(records, all);
}
