import { fc } from '@fast-check/vitest';
import { nextTurn } from '../../src/contracts/clock.js';
import type { AlignmentMode } from '../../src/barrier/modes.js';
import type { Plan } from '../../src/graph/plan.js';
import { AttemptBench, type TakenCheckpoint } from './attempt-bench.js';
import { TickingClock } from './ticking-clock.js';

/** What happens to a job between its start and its end. */
export type Incident =
  | { readonly kind: 'run'; readonly actions: number }
  /** `between` the snapshot of the enumerators and the barriers. */
  | { readonly kind: 'trigger'; readonly between: number }
  | { readonly kind: 'complete' | 'abort' | 'crash' }
  /** The checkpoint is durable, but nobody has been told. */
  | { readonly kind: 'crash-once-durable' };

export const incidents: fc.Arbitrary<readonly Incident[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('run' as const), actions: fc.integer({ min: 1, max: 8 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('trigger' as const), between: fc.integer({ min: 0, max: 3 }) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('complete' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('crash' as const, 'crash-once-durable' as const) }) },
  ),
  { minLength: 10, maxLength: 50, size: 'max' },
);

export interface Story {
  readonly attempts: number;
  readonly completed: number;
  /** Records that were in flight at checkpoints that a later attempt has restored. */
  readonly restoredInFlight: number;
}
/** How barriers go through the job. */
export interface BarrierMode {
  readonly mode?: AlignmentMode;
  /** Ms after which barriers overtake; absent: never. Then there is one checkpoint at a time. */
  readonly overtakesAfter?: number;
}

/** Runs a job through `incidents`, restoring the newest durable checkpoint after each crash, and then to its end. */
export async function runThrough(
  plan: Plan,
  clock: TickingClock,
  incidents: readonly Incident[],
  { mode = 'aligned', overtakesAfter }: BarrierMode = {},
): Promise<Story> {
  const concurrent = overtakesAfter === undefined ? 3 : 1;
  const slowly = (): Promise<void> => nextTurn(clock);
  let nextId = 1;
  let attempts = 0;
  let completed = 0;
  let restoredInFlight = 0;
  let newest: TakenCheckpoint | undefined;
  let pending: TakenCheckpoint[] = [];
  let bench = await begin();

  for (const incident of incidents) {
    switch (incident.kind) {
      case 'run':
        await clock.run(incident.actions);
        break;
      case 'trigger':
        if (pending.length < concurrent) pending.push(await bench.trigger(nextId++, () => clock.run(incident.between)));
        break;
      case 'complete':
        for (let i = 0; i < 30 && !pending.some(({ isComplete }) => isComplete); i++) await clock.run(1);
        void complete();
        break;
      case 'abort': {
        const aborted = pending.pop();
        if (aborted !== undefined) bench.abort(aborted);
        break;
      }
      case 'crash-once-durable':
        newest = pending.findLast(({ isComplete }) => isComplete) ?? newest;
        bench = await crash();
        break;
      case 'crash':
        bench = await crash();
    }
  }
  await untilSettled(bench.attempt.allEnded);
  const final = await bench.trigger(nextId++);
  pending.push(final);
  await clock.until(() => final.acks.size === final.expected);
  await untilSettled(complete());
  await untilSettled(bench.attempt.close('finished'));
  return { attempts, completed, restoredInFlight };

  async function begin(): Promise<AttemptBench> {
    restoredInFlight += newest?.inFlight.reduce((sum, { count }) => sum + count, 0) ?? 0;
    const options = { clock, mode, overtakesAfter, attempt: ++attempts, restore: newest, onWrite: slowly };
    const next = new AttemptBench(plan, options);
    await untilSettled(next.run());
    return next;
  }

  /** As a coordinator does it: what is older is given up before anybody hears of the completion. */
  function complete(): Promise<void> {
    const done = pending.findLast(({ isComplete }) => isComplete);
    if (done === undefined) return Promise.resolve();
    newest = done;
    completed++;
    for (const older of pending.filter(({ id }) => id < done.id)) bench.attempt.aborted(older.id, done.id);
    pending = pending.filter(({ id }) => id > done.id);
    const told = bench.complete(done);
    told.catch(() => undefined);
    return told;
  }

  async function crash(): Promise<AttemptBench> {
    bench.attempt.fail(new Error('crash'));
    await untilSettled(bench.attempt.close('failed'));
    pending = [];
    return begin();
  }

  async function untilSettled(promise: Promise<void>): Promise<void> {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    await clock.until(() => isSettled);
    await settled;
  }
}
