import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { RestartStrategyRole } from '../../src/contracts/roles.js';
import { WeirError } from '../../src/errors.js';
import type { JobEvent, Plugin } from '../../src/index.js';
import { HandCoordinator } from '../support/hand-coordinator.js';
import { heldJob } from '../support/held-job.js';

/** Restarts so many times, a second later. */
function patient(attempts: number): Plugin {
  return {
    name: 'patient',
    install(binder) {
      binder.provide(RestartStrategyRole, 'patient', () => ({
        type: 'patient',
        description: 'patient',
        initial: () => 0,
        decide: (count) => [
          (count as number) + 1,
          (count as number) < attempts
            ? { restart: true, delayMs: 1000 }
            : { restart: false, reason: 'it was tried often enough' },
        ],
      }));
    },
  };
}

interface Started {
  readonly outcome: unknown;
  readonly events: readonly JobEvent[];
  readonly coordinator: HandCoordinator;
  readonly committed: readonly number[];
}

/** Runs a job whose first starts fail with these. */
async function startFailing(errors: readonly unknown[], attempts = 5): Promise<Started> {
  const clock = new VirtualClock();
  const coordinator = new HandCoordinator();
  const rest = [...errors];
  coordinator.on = (call) => {
    if (call === 'start' && rest.length > 0) throw rest.shift() as Error;
  };
  const { env, committed } = heldJob(() => undefined, { clock, plugins: [patient(attempts), coordinator.plugin] });
  const job = await env.start('job');
  const events: JobEvent[] = [];
  job.events$.subscribe((event) => events.push(event));
  const done = job.done.catch((error: unknown) => error);
  await clock.advance(100_000);
  return { outcome: await done, events, coordinator, committed };
}

const system = (code: string): Error => Object.assign(new Error(code), { code, syscall: 'scandir' });
const count = ({ events }: Started, kind: JobEvent['kind']): number =>
  events.filter((event) => event.kind === kind).length;

describe('a start that fails', () => {
  test.each([
    system('EMFILE'),
    new WeirError('STORAGE_FAILED', 'Listing the checkpoints failed', { cause: system('EIO') }),
    new WeirError('STORAGE_FAILED', 'The storage has not answered'),
  ])('of what may pass by itself is tried again as the restart strategy says (%s)', async (error) => {
    const started = await startFailing([error, error]);
    expect(started.outcome).toBe('finished');
    expect(started.committed).toEqual([10, 20, 30]);
    expect([count(started, 'failure'), count(started, 'restart')]).toEqual([2, 2]);
    expect(started.coordinator.log.filter((call) => call === 'start')).toHaveLength(3);
  });

  test('more often than the strategy has patience ends the job, with the cause', async () => {
    const started = await startFailing(
      Array.from({ length: 9 }, () => system('EIO')),
      2,
    );
    expect(started.outcome).toMatchObject({ code: 'RESTART_SUPPRESSED', cause: { code: 'EIO' } });
    expect(started.coordinator.log).toEqual(['start', 'start', 'start', 'end failed']);
  });

  test.each([
    system('EACCES'),
    new WeirError('STORAGE_FAILED', 'Listing', { cause: system('ENOTDIR') }),
    new WeirError('CHECKPOINT_UNREADABLE', 'damaged', { recoverable: false }),
    new WeirError('STORAGE_LOCKED', 'held'),
    new TypeError('of a plugin'),
  ])('of anything else ends the job at once (%s)', async (error) => {
    const started = await startFailing([error]);
    expect(started.outcome).toBe(error);
    expect(count(started, 'restart')).toBe(0);
  });
});
