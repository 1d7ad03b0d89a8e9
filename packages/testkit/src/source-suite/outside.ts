import assert from 'node:assert/strict';
import type { SourceReader } from '@weir/core/contracts';
import {
  idsOf,
  take,
  type SourceBench,
  type SourceCheck,
  type SourceFixture,
  type SourceOutside,
  type SourceSuiteOptions,
} from './fixture.js';
import { closeInTime, inputs, inTime, limitOf, openReader, poll, readAll } from './reading.js';

/** So many polls without a word may a reader take to say that its input fails. */
const MOST_POLLS = 2000;

/** What becomes of a source when its input fails or hangs: it says so, loses nothing, and can be closed. */
export function outsideChecks<T>(check: SourceCheck<T>, { capabilities }: SourceSuiteOptions<T>): void {
  const withOutside = (title: string, body: (bench: SourceBench<T>, outside: SourceOutside) => Promise<void>): void => {
    check(title, async (bench) => {
      const { outside } = bench.fixture;
      if (outside !== undefined) await body(bench, outside);
    });
  };

  withOutside(
    'says that its input fails, and goes on behind the last record when that works again',
    async (bench, outside) => {
      for (const { split, expected } of await inputs(bench)) {
        for (let polls = 0; polls < 5; polls++) {
          const reader = await openReader(bench.fixture, split);
          const got: T[] = [];
          for (let i = 0; i < polls && got.length < expected.length; i++) {
            const answer = await poll(bench.fixture, reader, Math.min(2, expected.length - got.length));
            if (answer !== 'end') got.push(...answer);
          }
          outside.fail();
          got.push(...(await untilItSays(bench.fixture, reader, expected.length - got.length)));
          const position = bench.stored(reader.position());
          await reader.close();
          outside.work();
          const where = `split ${split.id} after ${String(got.length)} records`;
          assert.deepEqual(got, expected.slice(0, got.length), where);
          const rest = expected.slice(got.length);
          const { records } = await readAll(bench.fixture, split, {
            position,
            limit: limitOf(rest, capabilities.bounded),
          });
          assert.deepEqual(records, rest, where);
        }
      }
    },
  );

  withOutside('does not open, or does not read, where its input fails', async (bench, outside) => {
    const all = await inputs(bench);
    outside.fail();
    for (const { split, expected } of all) {
      if (expected.length === 0) continue;
      await assert.rejects(
        readAll(bench.fixture, split, { limit: expected.length }),
        `split ${split.id} cannot be read`,
      );
    }
  });

  withOutside('finds all splits or says that its input fails', async ({ ids, enumerate }, outside) => {
    outside.fail();
    const found = await enumerate().catch(() => undefined);
    if (found !== undefined) assert.deepEqual(idsOf(take(found, ids.length)), ids);
  });

  withOutside('can be closed while its input hangs, whatever waits for that', async (bench, outside) => {
    if (outside.hang === undefined) return;
    for (const { split, expected } of await inputs(bench)) {
      const most = capabilities.bounded ? 3 : Math.min(3, expected.length);
      for (let polls = 0; polls <= most; polls++) {
        const reader = await openReader(bench.fixture, split);
        for (let i = 0; i < polls; i++) await poll(bench.fixture, reader, 1);
        outside.hang();
        const outstanding = Promise.resolve(reader.poll(1024));
        await closeInTime(bench.fixture, reader, outstanding);
        outside.work();
      }
    }
  });

  withOutside('gives up opening when its attempt is aborted', async (bench, outside) => {
    if (outside.hang === undefined) return;
    for (const { split } of await inputs(bench)) {
      const attempt = new AbortController();
      outside.hang();
      const opening = openReader(bench.fixture, split, undefined, undefined, { signal: attempt.signal });
      const closed = opening.then(
        (reader) => reader.close(),
        () => undefined,
      );
      attempt.abort(new Error('the attempt has failed'));
      await inTime(bench.fixture, closed, 'opening does not settle, or what it gave cannot be closed');
      outside.work();
    }
  });
}

/** What a reader still has, until it fails. At the end of the split it need not: it may have read ahead. */
async function untilItSays<T>(fixture: SourceFixture<T>, reader: SourceReader<T>, left: number): Promise<readonly T[]> {
  const got: T[] = [];
  for (let polls = 0; got.length < left; polls++) {
    assert(polls < MOST_POLLS, `${String(MOST_POLLS)} polls and not a word of the failure`);
    let answer: readonly T[] | 'end';
    try {
      answer = await poll(fixture, reader, Math.min(2, left - got.length));
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return got;
    }
    assert(answer !== 'end', 'a failure is no end');
    got.push(...answer);
  }
  return got;
}
