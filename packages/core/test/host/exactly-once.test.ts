import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { plan } from '../support/attempt-bench.js';
import { Outside } from '../support/committing-sink.js';
import { incidents, runThrough, type BarrierMode, type Incident, type Story } from '../support/crashing-run.js';
import { describeJob, randomJob, type RandomJob } from '../support/random-jobs.js';
import { TickingClock } from '../support/ticking-clock.js';

async function run(
  job: RandomJob,
  story: readonly Incident[],
  mode?: BarrierMode,
): Promise<Outside<string> & { readonly story: Story }> {
  const outside = new Outside<string>();
  const clock = new TickingClock(job.tickMs);
  const described = plan((from) => {
    describeJob(job, from, outside, clock);
  }, job.parallelism);
  return Object.assign(outside, { story: await runThrough(described, clock, story, mode) });
}
async function outputOf(...how: Parameters<typeof run>): Promise<readonly string[]> {
  return (await run(...how)).visible.toSorted();
}

describe('a job that crashes at any moments and goes on from its newest checkpoint', () => {
  property.prop([randomJob, incidents], { numRuns: 60 })(
    'commits the output of one that never failed',
    async (job, story) => {
      expect(await outputOf(job, story)).toEqual(await outputOf(job, []));
    },
    60_000,
  );

  property.prop([randomJob, incidents], { numRuns: 40 })(
    'loses nothing where barriers are counted only',
    async (job, story) => {
      const committed = await outputOf(job, story, { mode: 'counting' });
      expect(missing(await outputOf(job, []), committed)).toEqual([]);
    },
    60_000,
  );

  property.prop([randomJob, incidents, fc.constantFrom(0, 0, 2)], { numRuns: 60 })(
    'commits the output of one that never failed where barriers overtake, at once or after a timeout',
    async (job, story, overtakesAfter) => {
      expect(await outputOf(job, story, { overtakesAfter })).toEqual(await outputOf(job, []));
    },
    60_000,
  );
  test('restores records that were in flight in some of such runs', async () => {
    let restored = 0;
    for (const [job, story] of fc.sample(fc.tuple(randomJob, incidents), { seed: 7, numRuns: 60 }))
      restored += (await run(job, story, { overtakesAfter: 0 })).story.restoredInFlight;
    expect(restored).toBeGreaterThan(0);
  }, 60_000);

  property.prop([randomJob, incidents], { numRuns: 20 })(
    'does the same in the same order whenever it is run again',
    async (job, story) => {
      const [one, other] = [await run(job, story), await run(job, story)];
      expect(other.visible).toEqual(one.visible);
      expect(other.commits).toEqual(one.commits);
    },
    60_000,
  );
});

/** What of `expected` is not in `actual`, counting repetitions. */
function missing(expected: readonly string[], actual: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const text of actual) left.set(text, (left.get(text) ?? 0) + 1);
  return expected.filter((text) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}
