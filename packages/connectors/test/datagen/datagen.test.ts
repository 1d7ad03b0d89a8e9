import { readerContext, sourceSuite, VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { datagen, type DatagenOptions } from '../../src/datagen/index.js';
import { readAll } from '../support/reading.js';

const range = (from: number, count: number, step = 1): number[] =>
  Array.from({ length: count }, (_, i) => from + i * step);

describe('an endless sequence', () => {
  sourceSuite(test, {
    capabilities: { grade: 'replayable', bounded: false },
    create: () => ({
      source: () => datagen({ from: -5, splits: 3 }),
      expected: {
        '0/3 from -5': range(-5, 50, 3),
        '1/3 from -5': range(-4, 50, 3),
        '2/3 from -5': range(-3, 50, 3),
      },
    }),
  });
});

describe('a sequence with an end and a rate', () => {
  sourceSuite(test, {
    capabilities: { grade: 'replayable', bounded: true },
    create: () => ({
      source: () => datagen({ count: 41, splits: 2, ratePerSecond: 300, map: (n) => `#${String(n)}` }),
      expected: {
        '0/2': range(0, 21, 2).map((n) => `#${String(n)}`),
        '1/2': range(1, 20, 2).map((n) => `#${String(n)}`),
      },
      clock: new VirtualClock(),
      gone: { splitId: '1/2', position: 21 },
    }),
  });
});

describe('a checkpoint', () => {
  /** The enumerator of a job that had begun with `before`, in a run with `after`. */
  async function restored(before: DatagenOptions<number>, after: DatagenOptions<number>): Promise<void> {
    const context = readerContext({ job: 'count', uid: 'numbers' });
    const first = datagen(before).enumerator(context);
    await first.start(undefined);
    first.assign(0);
    await datagen(after).enumerator(context).start(first.snapshot());
  }

  test.each<[string, DatagenOptions<number>, DatagenOptions<number>]>([
    ['more splits', { splits: 2 }, { splits: 4 }],
    ['fewer splits', { splits: 4 }, { splits: 2 }],
    ['one split', { splits: 3, count: 100 }, { count: 100 }],
    ['another first number', { splits: 2 }, { splits: 2, from: 1 }],
  ])('is refused by a source with %s: numbers would come again', async (_what, before, after) => {
    await expect(restored(before, after)).rejects.toMatchObject({
      code: 'CHECKPOINT_INCOMPATIBLE',
      recoverable: false,
      message: expect.stringMatching(/Source numbers of job count has other splits than the checkpoint: "0\//),
    });
  });

  test('is taken by a source that counts on, or at another rate', async () => {
    await restored({ splits: 2, count: 10 }, { splits: 2, count: 20, ratePerSecond: 5 });
  });
});

test('the splits have every number once, also if there are more of them than numbers', async () => {
  for (const [count, splits] of [
    [10, 3],
    [2, 5],
    [0, 2],
  ] as const) {
    const numbers = await readAll(datagen({ from: 7, count, splits }));
    expect(numbers.sort((a, b) => a - b)).toEqual(range(7, count));
  }
});

/** Reads for as long as `ms` of virtual time, without ever holding the sequence up. */
async function paced(options: DatagenOptions<number>, clock: VirtualClock, position?: number) {
  const source = datagen(options);
  const reader = await source.open({ id: '0/1', index: 0 }, position, readerContext({ clock }));
  const polls: { at: number; records: readonly number[] }[] = [];
  let reading = true;
  const loop = async (): Promise<void> => {
    while (reading) {
      const records = await reader.poll(1024);
      if (records === 'end') return;
      if (records.length > 0) polls.push({ at: clock.monotonic(), records });
    }
  };
  const done = loop();
  const stop = async (): Promise<void> => {
    reading = false;
    await reader.close();
    await done;
  };
  return { reader, polls, stop, count: () => polls.reduce((sum, { records }) => sum + records.length, 0) };
}

describe('a rate', () => {
  test.each([0.5, 1, 3, 10, 999, 1000, 50_000, 1_000_000])('of %d per second is kept evenly', async (ratePerSecond) => {
    const clock = new VirtualClock();
    const { count, polls, stop } = await paced({ ratePerSecond }, clock);
    await clock.advance(4000);
    expect(Math.abs(count() - 4 * ratePerSecond)).toBeLessThanOrEqual(1 + ratePerSecond / 1000);
    const interval = 1000 / ratePerSecond;
    for (const [i, { at, records }] of polls.entries()) {
      if (i > 0) expect(at - polls[i - 1]!.at).toBeGreaterThanOrEqual(0.999);
      expect(records.length).toBeLessThanOrEqual(Math.ceil(Math.max(1, 1 / interval)) + 1);
    }
    await stop();
    expect(clock.pendingTimers).toBe(0);
  });
  test('is not made up for after a restore', async () => {
    const clock = new VirtualClock();
    const before = await paced({ ratePerSecond: 100 }, clock);
    await clock.advance(1000);
    const position = before.reader.position();
    await before.stop();
    await clock.advance(60_000);
    const after = await paced({ ratePerSecond: 100 }, clock, position);
    await clock.settle();
    expect(after.polls.map(({ records }) => records)).toEqual([[position]]);
    await clock.advance(100);
    expect(after.count()).toBe(11);
    await after.stop();
  });
  test('is made up for only a little after it was held up', async () => {
    const clock = new VirtualClock();
    const reader = await datagen({ ratePerSecond: 1000 }).open(
      { id: '0/1', index: 0 },
      undefined,
      readerContext({ clock }),
    );
    expect(reader.poll(10)).toEqual([0]);
    await clock.advance(50);
    expect(reader.poll(1000)).toHaveLength(50);
    await clock.advance(60_000);
    expect(reader.poll(1000)).toHaveLength(100);
    expect(reader.poll(1000)).toBeInstanceOf(Promise);
    await reader.close();
  });
  test('of all splits together is the one that is set', async () => {
    const clock = new VirtualClock();
    const options = { ratePerSecond: 100, splits: 4 };
    const one = await paced(options, clock);
    await clock.advance(2000);
    expect(one.count()).toBeGreaterThanOrEqual(50);
    expect(one.count()).toBeLessThanOrEqual(51);
    await one.stop();
  });
});

test.each([
  { count: -1 },
  { count: 0.5 },
  { from: NaN },
  { ratePerSecond: 0 },
  { ratePerSecond: Infinity },
  { splits: 0 },
])('options that cannot be meant are refused: %j', (options) => {
  expect(() => datagen(options)).toThrow(/CONFIG_INVALID/);
});
