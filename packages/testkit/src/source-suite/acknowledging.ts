import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { SourceReader } from '@weir/core/contracts';
import type { SourceBench, SourceCheck } from './fixture.js';
import { inputs, openReader, read } from './reading.js';

/** What upstream is told, and when: so far as a completed checkpoint covers, and no further. */
export function acknowledgingChecks<T>(check: SourceCheck<T>): void {
  check('leaves everything upstream for as long as no checkpoint is complete', async (bench) => {
    for (const { split, expected } of await inputs(bench)) {
      const reader = await openReader(bench.fixture, split);
      await read(bench.fixture, reader, 3, expected.length);
      await reader.close();
      assert.deepEqual(await left(bench, split.id), expected);
    }
  });

  check('acknowledges what a completed checkpoint covers, and nothing behind it', async (bench) => {
    for (const { split, expected } of await inputs(bench)) {
      const reader = await openReader(bench.fixture, split);
      const half = Math.ceil(expected.length / 2);
      await read(bench.fixture, reader, 3, half);
      const position = reader.position();
      await read(bench.fixture, reader, 3, expected.length - half);
      await told(reader, 4, position);
      assert.deepEqual(await left(bench, split.id), expected.slice(half));
      await told(reader, 7, reader.position());
      assert.deepEqual(await left(bench, split.id), []);
      await reader.close();
    }
  });

  check('may be told while a poll is outstanding, and twice', async (bench) => {
    for (const { split, expected } of await inputs(bench)) {
      const reader = await openReader(bench.fixture, split);
      await read(bench.fixture, reader, 1024, expected.length);
      const position = reader.position();
      const outstanding = Promise.resolve(reader.poll(1024)).catch(() => []);
      await told(reader, 1, position);
      await told(reader, 2, position);
      assert.deepEqual(await left(bench, split.id), []);
      await reader.close();
      await outstanding;
    }
  });

  check('has all that the checkpoint does not cover, when it is opened at its position', async (bench) => {
    for (const { split, expected } of await inputs(bench)) {
      const half = Math.floor(expected.length / 2);
      const before = await openReader(bench.fixture, split);
      await read(bench.fixture, before, 3, half);
      const position = bench.stored(before.position());
      await read(bench.fixture, before, 3, expected.length - half);
      await before.close();
      // Upstream was told nothing: it delivers all of it again. What the checkpoint covers may be dropped, and may come again.
      const after = await openReader(bench.fixture, split, position);
      const records: T[] = [];
      const rest = expected.slice(half);
      const isWhole = (): boolean => isDeepStrictEqual(records.slice(Math.max(0, records.length - rest.length)), rest);
      while (records.length < expected.length && !isWhole())
        records.push(...(await read(bench.fixture, after, 1, 1)).records);
      assert(isWhole(), `split ${split.id}: all behind the position is delivered again`);
      await told(after, 5, after.position());
      assert.deepEqual(await left(bench, split.id), [], 'also what it has dropped is acknowledged');
      await after.close();
    }
  });
}

async function told<T>(reader: SourceReader<T>, checkpointId: number, position: unknown): Promise<void> {
  assert(reader.completed !== undefined, 'an acknowledging reader has `completed`');
  if (position !== undefined) await reader.completed(checkpointId, position);
}

async function left<T>({ fixture }: SourceBench<T>, splitId: string): Promise<readonly T[]> {
  assert(fixture.unacknowledged !== undefined, 'the fixture of an acknowledging source has `unacknowledged`');
  return fixture.unacknowledged(splitId);
}
