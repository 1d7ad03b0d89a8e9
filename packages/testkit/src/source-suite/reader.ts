import assert from 'node:assert/strict';
import { isWeirError, type SourceReader } from '@weir/core/contracts';
import type { SourceBench, SourceCheck, SourceSuiteOptions } from './fixture.js';
import { closeInTime, inputs, limitOf, openReader, poll, read, readAll } from './reading.js';

const SIZES = [1, 2, 3, 7, 64, 1024];
/** Of a long split not every position is tried. */
const MOST_POSITIONS = 50;

/** Reading splits, each by itself. */
export function readerChecks<T>(check: SourceCheck<T>, { capabilities }: SourceSuiteOptions<T>): void {
  for (const max of SIZES) {
    check(`reads every record of each split in order, ${String(max)} at a time`, async (bench) => {
      for (const { split, expected } of await inputs(bench)) {
        const { records } = await readAll(bench.fixture, split, {
          max,
          limit: limitOf(expected, capabilities.bounded),
        });
        assert.deepEqual(records, expected, `records of split ${split.id}`);
      }
    });
  }

  check('loses nothing when readers take turns', async (bench) => {
    const all = await inputs(bench);
    // One source, as in a job: its readers must not share what belongs to one of them.
    const source = bench.fixture.source();
    const turns: { reader: SourceReader<T>; records: T[]; expected: readonly T[] }[] = [];
    // What is given once, or given out until it is acknowledged, is not there for a second reader of the same split.
    const opened = capabilities.grade === 'replayable' ? [...all, ...all] : all;
    for (const { split, expected } of opened) {
      turns.push({ reader: await openReader(bench.fixture, split, undefined, source), records: [], expected });
    }
    const hasMore = ({ records, expected }: (typeof turns)[number]): boolean =>
      capabilities.bounded || records.length < expected.length;
    for (let open = turns.filter(hasMore); open.length > 0;) {
      const next: typeof turns = [];
      for (const turn of open) {
        const left = turn.expected.length - turn.records.length;
        const answer = await poll(bench.fixture, turn.reader, Math.max(1, Math.min(5, left)));
        if (answer === 'end') continue;
        turn.records.push(...answer);
        if (hasMore(turn)) next.push(turn);
      }
      open = next;
    }
    for (const { reader, records, expected } of turns) {
      await reader.close();
      assert.deepEqual(records, expected);
    }
  });

  if (capabilities.bounded) {
    check('ends a split once for all', async (bench) => {
      for (const { split, expected } of await inputs(bench)) {
        const reader = await openReader(bench.fixture, split);
        const { ended } = await read(bench.fixture, reader, 1024, expected.length + 1);
        assert(ended, `split ${split.id} ends`);
        assert.equal(await poll(bench.fixture, reader, 1024), 'end');
        await reader.close();
      }
    });
  }

  check('gives fresh positions that survive a checkpoint', async (bench) => {
    for (const { split, expected } of await inputs(bench)) {
      const reader = await openReader(bench.fixture, split);
      await read(bench.fixture, reader, 1, Math.ceil(expected.length / 2));
      const position = reader.position();
      const then = bench.stored(position);
      await read(bench.fixture, reader, 2, expected.length - Math.ceil(expected.length / 2));
      assert.deepEqual(position, then, 'later polls do not change a position that was given');
      await reader.close();
    }
  });

  if (capabilities.grade === 'replayable') {
    for (const max of [1, 3, 1024]) {
      check(`goes on with exactly the rest from every position, ${String(max)} at a time`, (bench) =>
        goesOn(bench, max, capabilities.bounded),
      );
    }

    check('is where it was opened, from before the first poll on', async (bench) => {
      for (const { split, expected } of await inputs(bench)) {
        const { positions } = await readAll(bench.fixture, split, { max: 7, limit: expected.length });
        for (const { count, position } of [{ count: 0, position: undefined }, ...sampled(positions)]) {
          const reader = await openReader(bench.fixture, split, bench.stored(position));
          const place = reader.position();
          await reader.close();
          const where = `split ${split.id} after ${String(count)} records`;
          assert(
            position === undefined || place !== undefined,
            `a reader has the position that it was opened at, ${where}`,
          );
          const rest = expected.slice(count);
          const { records } = await readAll(bench.fixture, split, {
            position: bench.stored(place),
            limit: limitOf(rest, capabilities.bounded),
          });
          assert.deepEqual(records, rest, where);
        }
      }
    });

    check('goes on from positions of a reader that went on', async (bench) => {
      for (const { split, expected } of await inputs(bench)) {
        const records: T[] = [];
        let position: unknown;
        while (records.length < expected.length) {
          const limit = Math.min(expected.length - records.length, 1 + (records.length % 5) * 7);
          const part = await readAll(bench.fixture, split, { position, max: 3, limit });
          records.push(...part.records);
          position = bench.stored(part.positions.at(-1)?.position);
          assert(part.records.length > 0, `split ${split.id} has more records`);
        }
        assert.deepEqual(records, expected);
      }
    });

    check('refuses a position that does not exist any more', async ({ fixture, splits }) => {
      const { gone } = fixture;
      if (gone === undefined) return;
      const split = (await splits()).find(({ id }) => id === gone.splitId);
      assert(split, `split ${gone.splitId} of the fixture exists`);
      const outcome = await attempt(() => readAll(fixture, split, { position: gone.position, limit: 1 }));
      assert(
        isWeirError(outcome.error, 'SOURCE_POSITION_GONE'),
        `fails with SOURCE_POSITION_GONE, not ${outcome.shown}`,
      );
    });
  }

  for (const [when, isAborted] of [
    ['it is closed', false],
    ['its attempt is aborted and it is closed', true],
  ] as const) {
    check(`settles an outstanding poll when ${when}`, async (bench) => {
      for (const { split, expected } of await inputs(bench)) {
        // An endless split may have nothing behind the records that are expected.
        const most = capabilities.bounded ? 3 : Math.min(3, expected.length);
        for (let polls = 0; polls <= most; polls++) {
          const attempt = new AbortController();
          const reader = await openReader(bench.fixture, split, undefined, undefined, { signal: attempt.signal });
          for (let i = 0; i < polls; i++) await poll(bench.fixture, reader, 1);
          const outstanding = Promise.resolve(reader.poll(1024));
          if (isAborted) attempt.abort(new Error('the attempt has failed'));
          await closeInTime(bench.fixture, reader, outstanding);
        }
      }
    });
  }

  check('can be closed before the first poll, and twice', async (bench) => {
    for (const { split } of await inputs(bench)) {
      const reader = await openReader(bench.fixture, split);
      await reader.close();
      await reader.close();
    }
  });
}

async function goesOn<T>(bench: SourceBench<T>, max: number, bounded: boolean): Promise<void> {
  for (const { split, expected } of await inputs(bench)) {
    const { positions } = await readAll(bench.fixture, split, { max, limit: expected.length });
    for (const { count, position } of sampled(positions)) {
      const rest = expected.slice(count);
      const { records } = await readAll(bench.fixture, split, {
        position: bench.stored(position),
        limit: limitOf(rest, bounded),
      });
      assert.deepEqual(records, rest, `split ${split.id} after ${String(count)} records`);
    }
  }
}

function sampled<P>(positions: readonly P[]): readonly P[] {
  const step = Math.ceil(positions.length / MOST_POSITIONS);
  return positions.filter((_, i) => i % step === 0 || i === positions.length - 1);
}

async function attempt(call: () => Promise<unknown>): Promise<{ error: unknown; shown: string }> {
  try {
    return { error: undefined, shown: `the answer ${String(await call())}` };
  } catch (error) {
    return { error, shown: String(error) };
  }
}
