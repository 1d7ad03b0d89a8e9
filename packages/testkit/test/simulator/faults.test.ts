import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/index.js';
import { CrashPlan } from '../../src/simulator/crash-plan.js';
import { Faults } from '../../src/simulator/faults.js';
import { drawProfile, type FaultProfile } from '../../src/simulator/fault-profile.js';
import { SimulatedClock } from '../../src/simulator/simulated-clock.js';
import { isSimulated, SimulatedFault } from '../../src/simulator/simulated-fault.js';
import { NO_TRACE } from '../../src/simulator/trace.js';

const { most } = drawProfile(seededRandom(1));
const NEVER = Object.fromEntries(Object.keys(most).map((name) => [name, 0])) as FaultProfile['rates'];

/** The world of one process in which only the given faults strike, and these always. */
function world(...always: readonly (keyof FaultProfile['rates'])[]): {
  readonly faults: Faults;
  run<T>(act: () => Promise<T>): Promise<{ readonly value?: T; readonly error?: unknown }>;
} {
  const rates = { ...NEVER, ...Object.fromEntries(always.map((name) => [name, 1])) };
  const faults = new Faults(seededRandom(1), { rates, most, processCrashes: 0, subtaskCrashes: 0 }, NO_TRACE);
  const clock = new SimulatedClock(seededRandom(2), 0);
  faults.begin(clock, NO_TRACE, 100);
  return {
    faults,
    async run(act) {
      let outcome = {};
      act().then(
        (value) => (outcome = { value }),
        (error: unknown) => (outcome = { error }),
      );
      while (await clock.step(() => true));
      return outcome;
    },
  };
}

describe('asking an unreliable outside', () => {
  test('gives its answer when no fault strikes', async () => {
    const { run, faults } = world();
    expect(await run(() => faults.ask('storage', 'list', async () => 42))).toEqual({ value: 42 });
    expect(Object.values(faults.counts).every((count) => count === 0)).toBe(true);
  });

  test('a failure strikes before anything was done', async () => {
    const { run, faults } = world('storage-failure');
    let done = 0;
    const { error } = await run(() => faults.ask('storage', 'list', async () => ++done));
    expect(isSimulated(error)).toBe(true);
    expect(done).toBe(0);
    expect(faults.counts['storage-failure']).toBe(1);
  });

  test('a lost answer strikes after it was done', async () => {
    const { run, faults } = world('commit-lost-answer');
    let done = 0;
    const { error } = await run(() => faults.ask('commit', 'commit', async () => ++done));
    expect(isSimulated(error)).toBe(true);
    expect(done).toBe(1);
  });

  test('no fault strikes more often than it may, and none once the world is calm', async () => {
    const { run, faults } = world('storage-failure');
    let errors = 0;
    for (let i = 0; i < 20; i++) if ((await run(() => faults.ask('storage', 'list', async () => i))).error) errors++;
    expect(errors).toBe(most['storage-failure']);
    const other = world('storage-failure');
    other.faults.calm();
    expect(await other.run(() => other.faults.ask('storage', 'list', async () => 1))).toEqual({ value: 1 });
  });
});

describe('a plan of crashes', () => {
  const deaths = (plan: CrashPlan, steps: number): number => {
    let count = 0;
    for (let step = 0; step < steps; step++) if (plan.stepped() !== undefined) count++;
    return count;
  };

  test('keeps one process crash for a completed checkpoint until the job was restored', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const plan = new CrashPlan(seededRandom(seed), { process: 1, subtask: 0 });
      plan.begun(100);
      plan.provoked(1);
      expect(deaths(plan, 1000)).toBe(0);
      plan.completed(true);
      expect(deaths(plan, 1000)).toBe(1);
    }
  });

  test('has no more deaths than there are crashes', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const plan = new CrashPlan(seededRandom(seed), { process: 2, subtask: 1 });
      plan.restored();
      let count = 0;
      for (let i = 0; i < 10; i++) {
        plan.provoked(1);
        count += deaths(plan, 100);
      }
      expect(count).toBe(3);
    }
  });
});

test('a simulated fault is known by its brand, wherever in the causes it stands', () => {
  const fault = new SimulatedFault('x');
  expect(isSimulated(new Error('outer', { cause: new Error('inner', { cause: fault }) }))).toBe(true);
  expect(isSimulated(new AggregateError([new Error('other'), fault]))).toBe(true);
  expect(isSimulated(new Error('other'))).toBe(false);
});
