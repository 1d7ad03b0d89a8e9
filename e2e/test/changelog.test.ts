import { fc, test as property } from '@fast-check/vitest';
import { decodeMetadata, type SectionsHandle } from '@weir/core/contracts';
import { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { faultsOf, live, type Ending, type Shape } from './support/lives.js';

// State in memory whose checkpoints say what has changed. So many keys that a checkpoint finds most of them as they were.

const SPLITS = 2;
const TIMEOUT = 120_000;

const shape: fc.Arbitrary<Shape> = fc.record({
  splits: fc.constant(SPLITS),
  keys: fc.constant(12),
  source: fc.integer({ min: 1, max: 2 }),
  count: fc.constantFrom(1, 1, 2, 4),
  sink: fc.integer({ min: 1, max: 2 }),
});

const run = (disk: CrashFileSystem, shape: Shape): Promise<Ending> => live(disk, disk, { shape, incremental: true });

/** What the newest checkpoint on the disk consists of; undefined if there is none. */
async function linksOf(disk: CrashFileSystem): Promise<readonly SectionsHandle['format'][] | undefined> {
  const paths = disk.paths().filter((path) => /\/chk-\d+\/_metadata$/.test(path));
  const idOf = (path: string): number => Number(/chk-(\d+)/.exec(path)?.[1]);
  const newest = paths.sort((a, b) => idOf(a) - idOf(b)).at(-1);
  if (newest === undefined) return undefined;
  const { operators } = decodeMetadata(await disk.readFile(newest), newest);
  return operators.flatMap(({ subtasks }) =>
    subtasks.flatMap(({ keyed }) => keyed.flatMap((handle) => (handle.format === 'native' ? [] : [handle.format]))),
  );
}

describe('a job that checkpoints what has changed, whose processes die at random moments and are rescaled', () => {
  // Chance has a hand in how often: so many runs that far more than asked for are certain.
  let restoredChanges = 0;

  property.prop([fc.array(fc.tuple(shape, fc.nat(300)), { minLength: 1, maxLength: 4 }), shape], { numRuns: 150 })(
    'gives the output of one that never failed',
    async (lives, last) => {
      let disk = new CrashFileSystem();
      for (const [width, step] of lives) {
        disk.stopAt(step);
        await run(disk, width);
        disk = disk.kill();
        if ((await linksOf(disk))?.includes('changes') === true) restoredChanges++;
      }
      const ending = await run(disk, last);
      expect(ending).toMatchObject({ kind: 'ended' });
      expect(await faultsOf(disk, last)).toEqual([]);
    },
    TIMEOUT,
  );

  test('really went on from changes, many times', () => {
    expect(restoredChanges).toBeGreaterThan(20);
  });
});
