import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { RestartStrategyRole } from '../../src/contracts/roles.js';
import type { JobHandle, JobStatus, Plugin } from '../../src/index.js';
import { deferred } from '../support/deferred.js';
import { HandCoordinator } from '../support/hand-coordinator.js';
import { heldJob, PLACES, untilAborted, type HeldJob, type Place } from '../support/held-job.js';

interface Held extends HeldJob {
  readonly job: JobHandle;
  readonly clock: VirtualClock;
  readonly coordinator: HandCoordinator;
}

/** Starts a job that is held up for ever at `place`, and lets it come there. */
async function heldAt(place: Place, isCheckpointed = true): Promise<Held> {
  const clock = new VirtualClock();
  const coordinator = new HandCoordinator();
  const reached = deferred();
  const held = heldJob(
    (at, signal) => {
      if (at !== place) return undefined;
      reached.resolve();
      return untilAborted(signal);
    },
    { clock, plugins: [coordinator.plugin], isCheckpointed },
  );
  const job = await held.env.start('job');
  await clock.settle();
  await reached.promise;
  return { ...held, job, clock, coordinator };
}

describe.each(PLACES.filter((place) => place !== 'record'))('a job that is held up (%s)', (place) => {
  test('ends when it is cancelled, closes everything, and leaves no timer', async () => {
    const { job, clock, coordinator, open, committed } = await heldAt(place);
    const cancelled = job.cancel();
    await clock.settle();
    expect(await cancelled).toBe('cancelled');
    expect(await job.done).toBe('cancelled');
    expect(job.status).toBe('cancelled');
    expect([...open]).toEqual([]);
    expect(committed).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    expect(coordinator.log.slice(-2)).toEqual(['attemptEnded 1', 'end cancelled']);
  });

  test('may be cancelled twice, and disposed after that', async () => {
    const { job, clock, coordinator } = await heldAt(place);
    const all = [job.cancel(), job.cancel(), job[Symbol.asyncDispose]()];
    await clock.settle();
    expect((await Promise.all(all)).slice(0, 2)).toEqual(['cancelled', 'cancelled']);
    expect(coordinator.log.filter((call) => call.startsWith('end'))).toEqual(['end cancelled']);
  });

  test('keeps what is needed to resume it when it is disposed', async () => {
    const { job, clock, coordinator } = await heldAt(place);
    const disposed = job[Symbol.asyncDispose]();
    await clock.settle();
    await disposed;
    expect(coordinator.log.at(-1)).toBe('end suspended');
  });
});

describe('a job is cancelled', () => {
  test.each(['start', 'beginAttempt'] as const)('once the coordinator has answered (%s)', async (call) => {
    const clock = new VirtualClock();
    const coordinator = new HandCoordinator();
    const answer = deferred();
    coordinator.on = (which) => (which === call ? answer.promise : undefined);
    const { env, open } = heldJob(() => undefined, { clock, plugins: [coordinator.plugin] });
    const job = await env.start('job');
    await clock.settle();
    const cancelled = job.cancel();
    answer.resolve();
    await clock.settle();
    expect(await cancelled).toBe('cancelled');
    expect([...open]).toEqual([]);
    expect(coordinator.log.at(-1)).toBe('end cancelled');
  });

  test('while it waits for its restart', async () => {
    const clock = new VirtualClock();
    const hourly: Plugin = {
      name: 'hourly',
      install(binder) {
        binder.provide(RestartStrategyRole, 'hourly', () => ({
          type: 'hourly',
          description: 'hourly',
          initial: () => undefined,
          decide: (state) => [state, { restart: true, delayMs: 3_600_000 }],
        }));
      },
    };
    const { env, open } = heldJob((place) => (place === 'poll' ? Promise.reject(new Error('poison')) : undefined), {
      clock,
      plugins: [hourly, new HandCoordinator().plugin],
    });
    const job = await env.start('job');
    await clock.settle();
    expect(job.status).toBe('restarting');
    const cancelled = job.cancel();
    await clock.settle();
    expect(await cancelled).toBe('cancelled');
    expect([clock.pendingTimers, [...open]]).toEqual([0, []]);
  });

  test('by its abort signal, which keeps what is needed to resume it', async () => {
    const clock = new VirtualClock();
    const coordinator = new HandCoordinator();
    const abort = new AbortController();
    const { env } = heldJob((place, signal) => (place === 'poll' ? untilAborted(signal) : undefined), {
      clock,
      plugins: [coordinator.plugin],
    });
    const job = await env.start('job', { signal: abort.signal });
    await clock.settle();
    abort.abort();
    await clock.settle();
    expect(await job.done).toBe('cancelled');
    expect(coordinator.log.at(-1)).toBe('end suspended');
  });

  test('in vain once it has ended', async () => {
    const clock = new VirtualClock();
    const coordinator = new HandCoordinator();
    const abort = new AbortController();
    const { env, committed } = heldJob(() => undefined, { clock, plugins: [coordinator.plugin] });
    const job = await env.start('job', { signal: abort.signal });
    await clock.settle();
    expect(await job.done).toBe('finished');
    abort.abort();
    expect(await job.cancel()).toBe('finished');
    await job[Symbol.asyncDispose]();
    expect(committed).toEqual([10, 20, 30]);
    expect(coordinator.log.filter((call) => call.startsWith('end'))).toEqual(['end finished']);
  });

  test('without checkpoints: what it has written so far is published', async () => {
    const { job, clock, open, committed } = await heldAt('poll', false);
    void job.cancel();
    await clock.settle();
    expect(await job.done).toBe('cancelled');
    expect([[...open], committed]).toEqual([[], []]);
  });

  test('without checkpoints, in the middle: what it has written so far is published', async () => {
    const clock = new VirtualClock();
    let polls = 0;
    const { env, committed, open } = heldJob(
      (place, signal) => (place === 'poll' && ++polls === 3 ? untilAborted(signal) : undefined),
      { clock, isCheckpointed: false },
    );
    const job = await env.start('job');
    await clock.settle();
    expect(committed).toEqual([]);
    void job.cancel();
    await clock.settle();
    expect(await job.done).toBe('cancelled');
    expect([committed, [...open]]).toEqual([[10, 20], []]);
  });

  test('says so step by step', async () => {
    const { job, clock } = await heldAt('write');
    const statuses: JobStatus[] = [];
    let isComplete = false;
    job.status$.subscribe({
      next: (status) => statuses.push(status),
      complete: () => {
        isComplete = true;
      },
    });
    void job.cancel();
    await clock.settle();
    expect(statuses).toEqual(['running', 'cancelling', 'cancelled']);
    expect(isComplete).toBe(true);
  });
});
