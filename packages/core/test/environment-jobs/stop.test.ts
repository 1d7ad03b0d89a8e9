import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import type { JobHandle } from '../../src/index.js';
import { RestartStrategyRole } from '../../src/contracts/roles.js';
import type { Plugin } from '../../src/contracts/plugin.js';
import { deferred } from '../support/deferred.js';
import { HandCoordinator } from '../support/hand-coordinator.js';
import { heldJob, untilAborted, type At, type HeldJob } from '../support/held-job.js';

interface Running extends HeldJob {
  readonly job: JobHandle;
  readonly clock: VirtualClock;
  readonly coordinator: HandCoordinator;
}

/** A job that has read 1 and waits for more for ever, unless `at` says otherwise. */
async function running(at: At = () => undefined, plugins: readonly Plugin[] = []): Promise<Running> {
  const clock = new VirtualClock();
  const coordinator = new HandCoordinator();
  let polls = 0;
  const held = heldJob(
    (place, signal) => at(place, signal) ?? (place === 'poll' && ++polls > 1 ? untilAborted(signal) : undefined),
    {
      clock,
      plugins: [coordinator.plugin, ...plugins],
    },
  );
  const job = await held.env.start('job');
  await clock.settle();
  expect(job.status).toBe('running');
  return { ...held, job, clock, coordinator };
}

const immediately: Plugin = {
  name: 'immediately',
  install(binder) {
    binder.provide(RestartStrategyRole, 'immediately', () => ({
      type: 'immediately',
      description: 'immediately',
      initial: () => undefined,
      decide: (state) => [state, { restart: true, delayMs: 0 }],
    }));
  },
};

describe('stopWithSavepoint', () => {
  test.each([false, true])(
    'ends the job as stopped, with everything committed and closed (drain: %s)',
    async (drain) => {
      const { job, clock, coordinator, open, committed } = await running();
      const stopping = job.stopWithSavepoint({ dir: 'mine', drain });
      await clock.settle();
      expect(await stopping).toMatchObject({ pointer: 'mine/sp', trigger: 'stop' });
      expect(await job.done).toBe('stopped');
      expect([job.status, committed, [...open], clock.pendingTimers]).toEqual(['stopped', [10], [], 0]);
      expect(coordinator.log.slice(-3)).toEqual(['stopWithSavepoint mine', 'attemptEnded 1', 'end stopped']);
    },
  );

  test('settles only once the job has ended', async () => {
    const commit = deferred();
    const { job, clock } = await running((place) => (place === 'commit' ? commit.promise : undefined));
    let isStopped = false;
    const stopping = job.stopWithSavepoint().then(() => {
      isStopped = true;
    });
    await clock.settle();
    expect([isStopped, job.status]).toEqual([false, 'finishing']);
    commit.resolve();
    await clock.settle();
    await stopping;
    expect(job.status).toBe('stopped');
  });

  test('leaves the job running if the savepoint fails, and says why; it may be tried again', async () => {
    const { job, clock, coordinator } = await running();
    coordinator.on = (call) => {
      if (call === 'stopWithSavepoint') throw new Error('no space left');
    };
    await expect(job.stopWithSavepoint()).rejects.toThrow('no space left');
    await clock.settle();
    expect(job.status).toBe('running');
    coordinator.on = () => undefined;
    const stopping = job.stopWithSavepoint();
    await clock.settle();
    expect(await stopping).toMatchObject({ pointer: 'default/sp' });
  });

  test('is done once at a time', async () => {
    const { job, clock, coordinator } = await running();
    const answer = deferred();
    coordinator.on = (call) => (call === 'stopWithSavepoint' ? answer.promise : undefined);
    const first = job.stopWithSavepoint();
    await expect(job.stopWithSavepoint()).rejects.toThrow(/^JOB_NOT_RUNNING.*being stopped already/);
    answer.resolve();
    await clock.settle();
    await first;
    await expect(job.stopWithSavepoint()).rejects.toThrow(/^JOB_NOT_RUNNING.*it is stopped/);
  });

  test('a savepoint that is complete although the job then fails is named, and nothing is restarted', async () => {
    const failing: At = (place) => {
      if (place === 'commit') throw Object.assign(new Error('refused for good'), { recoverable: false });
    };
    const { job, clock, coordinator } = await running(failing, [immediately]);
    coordinator.on = (call) => {
      if (call === 'attemptRunning' && coordinator.log.filter((l) => l === call).length > 1)
        throw new Error('restarted');
    };
    // A committer that throws is asked again; what ends it is another failure.
    const stopping = job.stopWithSavepoint({ dir: 'mine' });
    job.done.catch(() => undefined);
    stopping.catch(() => undefined);
    await clock.settle();
    coordinator.context?.failAttempt(1, new Error('the sink is gone'));
    await clock.settle();
    await expect(stopping).rejects.toThrow(/^STOP_FAILED.*mine\/sp.*the sink is gone/);
    await expect(job.done).rejects.toMatchObject({ code: 'STOP_FAILED', recoverable: false });
    expect(coordinator.log.slice(-2)).toEqual(['attemptEnded 1', 'end failed']);
  });

  test('a savepoint that is complete although the job is then cancelled is named', async () => {
    const commit = deferred();
    const { job, clock } = await running((place) => (place === 'commit' ? commit.promise : undefined));
    const stopping = job.stopWithSavepoint({ dir: 'mine' });
    stopping.catch(() => undefined);
    await clock.settle();
    const cancelled = job.cancel();
    commit.resolve();
    await clock.settle();
    expect(await cancelled).toBe('cancelled');
    await expect(stopping).rejects.toThrow(/^STOP_FAILED.*cancelled before it had stopped.*mine\/sp/);
  });

  test('a failure before the savepoint is complete restarts the job as any other', async () => {
    const { job, clock, coordinator } = await running(undefined, [immediately]);
    const answer = deferred();
    coordinator.on = (call) => (call === 'stopWithSavepoint' ? answer.promise : undefined);
    const stopping = job.stopWithSavepoint();
    stopping.catch(() => undefined);
    coordinator.context?.failAttempt(1, new Error('crash'));
    answer.reject(new Error('the attempt has ended'));
    await clock.settle();
    await expect(stopping).rejects.toThrow('the attempt has ended');
    expect(job.status).toBe('running');
    coordinator.on = () => undefined;
    const again = job.stopWithSavepoint();
    await clock.settle();
    expect(await again).toMatchObject({ trigger: 'stop' });
  });

  test('if all data ends first, the job ends with the savepoint all the same', async () => {
    const held = deferred();
    const { job, clock, coordinator } = await running((place) => (place === 'poll' ? held.promise : undefined));
    const answer = deferred();
    coordinator.on = (call) => (call === 'stopWithSavepoint' ? answer.promise : undefined);
    const stopping = job.stopWithSavepoint();
    held.resolve();
    await clock.settle();
    answer.resolve();
    await clock.settle();
    await stopping;
    expect(coordinator.log).not.toContain('finalCheckpoint');
    expect(await job.done).toBe('stopped');
  });

  test('and if that savepoint fails, the job finishes', async () => {
    const held = deferred();
    const { job, clock, coordinator } = await running((place) => (place === 'poll' ? held.promise : undefined));
    const answer = deferred();
    coordinator.on = (call) => (call === 'stopWithSavepoint' ? answer.promise : undefined);
    const stopping = job.stopWithSavepoint();
    stopping.catch(() => undefined);
    held.resolve();
    await clock.settle();
    answer.reject(new Error('no space left'));
    await clock.settle();
    await expect(stopping).rejects.toThrow('no space left');
    expect(await job.done).toBe('finished');
    expect(coordinator.log).toContain('finalCheckpoint');
  });

  test('needs checkpointing', async () => {
    const clock = new VirtualClock();
    const { env } = heldJob((place, signal) => (place === 'poll' ? untilAborted(signal) : undefined), {
      clock,
      isCheckpointed: false,
      plugins: [new HandCoordinator().plugin],
    });
    const job = await env.start('job');
    await clock.settle();
    await expect(job.stopWithSavepoint()).rejects.toThrow(/^CHECKPOINT_FAILED.*enableCheckpointing/);
    await expect(job.triggerSavepoint()).rejects.toThrow(/^CHECKPOINT_FAILED.*no savepoints/);
    const cancelled = job.cancel();
    await clock.settle();
    await cancelled;
  });
});
