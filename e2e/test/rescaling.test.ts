import { fc, test as property } from '@fast-check/vitest';
import { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { faultsOf, live, type Shape } from './support/lives.js';

const SPLITS = 5;
const TIMEOUT = 120_000;

/** Each operator by itself: neighbours of one parallelism are chained, so stages split and merge from life to life. */
const shape: fc.Arbitrary<Shape> = fc.record({
  splits: fc.constant(SPLITS),
  source: fc.integer({ min: 1, max: 5 }),
  count: fc.integer({ min: 1, max: 5 }),
  sink: fc.integer({ min: 1, max: 5 }),
});
const wide = (parallelism: number): Shape => ({
  splits: SPLITS,
  source: parallelism,
  count: parallelism,
  sink: parallelism,
});

function hasCheckpoint(disk: CrashFileSystem): boolean {
  return disk.paths().some((path) => /\/chk-\d+\/_metadata$/.test(path));
}

async function stoppedAt(step: number, width: Shape, disk = new CrashFileSystem()): Promise<CrashFileSystem> {
  disk.stopAt(step);
  await live(disk, disk, { shape: width });
  return disk.kill();
}
async function faultsAfter(disk: CrashFileSystem, width: Shape): Promise<readonly string[]> {
  const ending = await live(disk, disk, { shape: width });
  if (ending.kind === 'failed') return [`did not start again: ${String(ending.error)}`];
  return faultsOf(disk, width);
}

describe('a job whose processes die at random moments, each followed by one of other parallelisms', () => {
  let rescaled = 0;

  property.prop([fc.array(fc.tuple(shape, fc.nat(250)), { minLength: 1, maxLength: 4 }), shape], { numRuns: 80 })(
    'gives the output of one that ran at parallelism 1 and never failed',
    async (lives, last) => {
      let disk = new CrashFileSystem();
      for (const [width, step] of lives) {
        disk = await stoppedAt(step, width, disk);
        if (hasCheckpoint(disk)) rescaled++;
      }
      expect(await faultsAfter(disk, last)).toEqual([]);
    },
    TIMEOUT,
  );

  test('really resumed from a checkpoint, many times', () => {
    expect(rescaled).toBeGreaterThan(40);
  });
});

test(
  'a process that dies while it restores at another parallelism is followed by one of yet another, at any step of it',
  async () => {
    for (const [first, second, third] of [
      [2, 4, 3],
      [4, 1, 2],
    ] as const) {
      const before = await stoppedAt(200, wide(first));
      expect(hasCheckpoint(before)).toBe(true);
      for (let step = 0; step < 60; step++) {
        const disk = await stoppedAt(step, wide(second), before.kill());
        expect({ first, second, third, step, faults: await faultsAfter(disk, wide(third)) }).toEqual({
          first,
          second,
          third,
          step,
          faults: [],
        });
      }
    }
  },
  TIMEOUT,
);
