import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type Duration, type JobEvent } from '@weir/core';
import { SILENT, type Metrics } from '@weir/core/contracts';
import { map } from '@weir/core/operators';
import { exponentialDelayRestart } from '@weir/restart-strategies';
import { transactionalMemorySink, VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { ofKind, paced } from './support/paced-job.js';

const MINUTE = 60_000;
/** Longer than the quiet time after which exponential delay starts over. */
const PER_RECORD = 70 * MINUTE;

interface Run {
  readonly interval: Duration;
  /** Says whether the code of the job fails at this record. */
  readonly isPoison: (n: number) => boolean;
  readonly forMs: number;
}

interface Ran {
  readonly events: readonly JobEvent[];
  readonly delays: readonly number[];
  /** As the gauge said it last. */
  readonly failuresInARow: number;
}

async function run({ interval, isPoison, forMs }: Run): Promise<Ran> {
  const clock = new VirtualClock();
  const gauges = new Map<string, () => number>();
  const metrics: Metrics = {
    counter: () => ({ add: () => undefined }),
    histogram: () => ({ record: () => undefined }),
    gauge: (name, read) => {
      gauges.set(name, read);
      return () => undefined;
    },
  };
  const env = createEnvironment({
    clock,
    metrics,
    random: () => 0.5,
    logger: SILENT,
    plugins: [checkpointCoordinator(), memoryBackend(), exponentialDelayRestart()],
  });
  env.enableCheckpointing(interval);
  env
    .from(paced(20, PER_RECORD), { uid: 'numbers' })
    .pipe(
      map((n) => {
        if (isPoison(n)) throw new Error(`${String(n)} is poisoned`);
        return n;
      }),
    )
    .to(transactionalMemorySink<number>(), { uid: 'out' });
  const job = await env.start('poisoned');
  const events: JobEvent[] = [];
  job.events$.subscribe((event) => events.push(event));
  await clock.advance(forMs);
  const failuresInARow = gauges.get('weir.job.failures_in_a_row')?.() ?? -1;
  const gone = job.cancel();
  await clock.until(() => job.status === 'cancelled');
  await gone;
  return { events, delays: ofKind(events, 'restart').map(({ delayMs }) => delayMs), failuresInARow };
}

describe('a job that fails long after it was restarted', () => {
  test('waits longer each time and says so, where no checkpoint has completed in between', async () => {
    const { events, delays, failuresInARow } = await run({
      interval: '1 d',
      isPoison: (n) => n === 1,
      forMs: 9 * PER_RECORD + 30 * MINUTE,
    });
    expect(delays).toEqual([1000, 1500, 2250, 3375]);
    const repeated = ofKind(events, 'failure-repeated');
    expect(repeated.map(({ attempt, inARow }) => [attempt, inARow])).toEqual([
      [3, 3],
      [4, 4],
    ]);
    expect(repeated[1]?.message).toMatch(
      /^Job poisoned has failed 4 times in a row without completing a checkpoint in between\. .*1 is poisoned/,
    );
    expect(failuresInARow).toBe(4);
  });

  test('starts over with its first delay, where checkpoints have completed in between', async () => {
    const failed = new Set<number>();
    const { events, delays, failuresInARow } = await run({
      interval: '10 min',
      isPoison: (n) => n % 2 === 1 && !failed.has(n) && failed.add(n).has(n),
      forMs: 11 * PER_RECORD + 30 * MINUTE,
    });
    expect(delays).toEqual([1000, 1000, 1000, 1000]);
    expect(ofKind(events, 'failure-repeated')).toEqual([]);
    expect(failuresInARow).toBe(0);
  });
});
