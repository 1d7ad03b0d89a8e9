import assert from 'node:assert/strict';
import { isWeirError, type SourceReader } from '@weir/core/contracts';
import { settlesWithin } from '../adapters/deadline.js';
import type { SourceBench, SourceCheck, SourceFixture, SourceSuiteOptions } from './fixture.js';
import { openReader, poll, read, readAll } from './reading.js';

const SIZES = [1, 2, 3, 7, 64, 1024];
/** Of a long split not every position is tried. */
const MOST_POSITIONS = 50;
/** Real time that a closed reader has to settle what is outstanding. */
const CLOSE_WITHIN_MS = 2000;

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
    // What is given at most once is not there for a second reader of the same split.
    const opened = capabilities.grade === 'at-most-once' ? all : [...all, ...all];
    for (const { split, expected } of opened) {
      turns.push({ reader: await openReader(bench.fixture, split, undefined, source), records: [], expected });
    }
    for (let open = turns.slice(); open.length > 0;) {
      const next: typeof turns = [];
      for (const turn of open) {
        const left = turn.expected.length - turn.records.length;
        const answer = await poll(bench.fixture, turn.reader, Math.max(1, Math.min(5, left)));
        if (answer === 'end') continue;
        turn.records.push(...answer);
        if (capabilities.bounded || turn.records.length < turn.expected.length) next.push(turn);
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

    check('goes on from positions of a reader that went on', async (bench) => {
      for (const { split, expected } of await inputs(bench)) {
        const records: T[] = [];
        let position: unknown;
        while (records.length < expected.length) {
          const limit = Math.min(expected.length - records.length, 1 + (records.length % 5) * 7);
          const part = await readAll(bench.fixture, split, { position, max: 3, limit });
          records.push(...part.records);
          position = bench.stored(part.positions.at(-1)?.position);
          assert(position !== undefined, `split ${split.id} has more records`);
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

  if (capabilities.grade === 'acknowledging') {
    check('takes the news that a checkpoint is complete', async (bench) => {
      const [first] = await inputs(bench);
      assert(first, 'the fixture has a split');
      const reader = await openReader(bench.fixture, first.split);
      await read(bench.fixture, reader, 1, 1);
      assert(reader.completed !== undefined, 'an acknowledging reader has `completed`');
      await reader.completed(1, reader.position());
      await reader.completed(1, reader.position());
      await reader.close();
    });
  }

  check('settles an outstanding poll when it is closed', async (bench) => {
    for (const { split } of await inputs(bench)) {
      for (let polls = 0; polls < 4; polls++) {
        const reader = await openReader(bench.fixture, split);
        for (let i = 0; i < polls; i++) await poll(bench.fixture, reader, 1);
        const outstanding = Promise.resolve(reader.poll(1024));
        const closed = reader.close();
        assert(await settlesWithin(CLOSE_WITHIN_MS, outstanding), 'the poll settles');
        assert(await settlesWithin(CLOSE_WITHIN_MS, closed), 'close settles');
        await closed;
      }
    }
  });

  check('can be closed before the first poll, and twice', async (bench) => {
    for (const { split } of await inputs(bench)) {
      const reader = await openReader(bench.fixture, split);
      await reader.close();
      await reader.close();
    }
  });
}

async function inputs<T>({
  fixture,
  splits,
}: SourceBench<T>): Promise<{ split: { id: string }; expected: readonly T[] }[]> {
  return (await splits()).map((split) => ({ split, expected: expectedOf(fixture, split.id) }));
}

function expectedOf<T>({ expected }: SourceFixture<T>, id: string): readonly T[] {
  const records = expected[id];
  assert(records, `split ${id} is expected`);
  return records;
}

/** One more than there is, so that a reader that gives too much is found out. */
function limitOf(expected: readonly unknown[], bounded: boolean): number {
  return bounded ? expected.length + 1 : expected.length;
}

async function goesOn<T>(bench: SourceBench<T>, max: number, bounded: boolean): Promise<void> {
  for (const { split, expected } of await inputs(bench)) {
    const { positions } = await readAll(bench.fixture, split, { max, limit: expected.length });
    const step = Math.ceil(positions.length / MOST_POSITIONS);
    for (const { count, position } of positions.filter((_, i) => i % step === 0 || i === positions.length - 1)) {
      const rest = expected.slice(count);
      const { records } = await readAll(bench.fixture, split, {
        position: bench.stored(position),
        limit: limitOf(rest, bounded),
      });
      assert.deepEqual(records, rest, `split ${split.id} after ${String(count)} records`);
    }
  }
}

async function attempt(call: () => Promise<unknown>): Promise<{ error: unknown; shown: string }> {
  try {
    return { error: undefined, shown: `the answer ${String(await call())}` };
  } catch (error) {
    return { error, shown: String(error) };
  }
}
