import { VirtualClock } from '@weir/testkit';
import { config } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import type { Logger } from '../../src/contracts/logger.js';
import { noRestart, WeirError, type CallTimeoutOptions, type JobEvent, type JobHandle } from '../../src/index.js';
import { deferred } from '../support/deferred.js';
import { HandCoordinator } from '../support/hand-coordinator.js';
import { CLOSINGS, heldJob, PLACES, untilAborted, type At, type HeldJob, type Place } from '../support/held-job.js';

interface Started extends HeldJob {
  readonly job: JobHandle;
  readonly clock: VirtualClock;
  readonly coordinator: HandCoordinator;
  readonly warnings: string[];
  /** How `done` settled, once it has. */
  readonly outcome: { value: unknown };
}

async function start(
  at: At,
  isCheckpointed = true,
  coordinator = new HandCoordinator(),
  callTimeouts: CallTimeoutOptions = {},
): Promise<Started> {
  const clock = new VirtualClock();
  const warnings: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields, message) => warnings.push(`${message}: ${String((fields as { err?: unknown }).err)}`),
    error: () => undefined,
    child: () => logger,
  };
  const held = heldJob(at, { clock, logger, isCheckpointed, callTimeouts, plugins: [coordinator.plugin, noRestart()] });
  const job = await held.env.start('job');
  const outcome: { value: unknown } = { value: undefined };
  job.done.then(
    (end) => (outcome.value = end),
    (error: unknown) => (outcome.value = error),
  );
  await clock.settle();
  return { ...held, job, clock, coordinator, warnings, outcome };
}
const once =
  (place: Place, act: () => Promise<void> | void): At =>
  (at) =>
    at === place ? act() : undefined;
/** A whole job whose coordinator fails in one of its calls. */
function failingCall(which: string): Promise<Started> {
  const coordinator = new HandCoordinator();
  coordinator.on = (call) => {
    if (call === which) throw new Error(`${which} failed`);
  };
  return start(() => undefined, true, coordinator);
}
const boom = (): never => {
  throw new Error('boom');
};
const never = (): Promise<never> => new Promise(() => undefined);

describe('a job fails', () => {
  const CODES: Readonly<Record<string, string>> = {
    enumerator: 'SOURCE_FAILED',
    'open reader': 'SOURCE_FAILED',
    poll: 'SOURCE_FAILED',
    record: 'OPERATOR_FAILED',
    'open operator': 'OPERATOR_FAILED',
  };

  test.each(
    PLACES.filter((place) => place !== 'commit').flatMap((place) => [[place, true] as const, [place, false] as const]),
  )(
    'with the name of who failed (%s, with checkpoints: %s), and everything is closed',
    async (place, isCheckpointed) => {
      const { job, open, committed, clock, coordinator, outcome } = await start(once(place, boom), isCheckpointed);
      expect(outcome.value).toMatchObject({
        code: CODES[place] ?? 'SINK_FAILED',
        message: expect.stringMatching(/(in|keyed|out|map-1) of job job.*boom/),
      });
      expect(job.status).toBe('failed');
      expect([[...open], committed, clock.pendingTimers]).toEqual([[], [], 0]);
      if (isCheckpointed) expect(coordinator.log.slice(-2)).toEqual(['attemptEnded 1', 'end failed']);
    },
  );

  test('when the coordinator says so, also after the last record', async () => {
    const commit = deferred();
    const { clock, coordinator, outcome, open, job } = await start((place, signal) =>
      place === 'commit' ? Promise.race([commit.promise, untilAborted(signal)]) : undefined,
    );
    expect(job.status).toBe('finishing');
    coordinator.context?.failAttempt(2, new Error('of another attempt'));
    await clock.settle();
    expect(outcome.value).toBeUndefined();
    coordinator.context?.failAttempt(1, new Error('too many failed checkpoints'));
    await clock.settle();
    expect(outcome.value).toMatchObject({ message: 'too many failed checkpoints' });
    expect([...open]).toEqual([]);
  });

  test('in vain once it is finished', async () => {
    const { coordinator, outcome, clock } = await start(() => undefined);
    coordinator.context?.failAttempt(1, new Error('too late'));
    await clock.settle();
    expect(outcome.value).toBe('finished');
  });

  test('if its final checkpoint cannot be taken', async () => {
    const { outcome, open, committed } = await failingCall('finalCheckpoint');
    expect(outcome.value).toMatchObject({ message: 'finalCheckpoint failed' });
    expect([[...open], committed]).toEqual([[], []]);
  });
});

describe('closing', () => {
  test('that throws in several places is told whole', async () => {
    const { outcome, warnings } = await start((at) => {
      if (at.startsWith('close ') && at !== 'close reader') throw new Error(`no ${at}`);
    });
    expect(outcome.value).toBe('finished');
    const places = CLOSINGS.filter((place) => place !== 'close reader');
    expect(places.length).toBeGreaterThan(1);
    for (const place of places) expect(warnings.join()).toContain(`no ${place}`);
  });

  test.each(CLOSINGS)(
    'that throws (%s) is told of, and takes nothing back from a job that has finished',
    async (place) => {
      const { outcome, warnings, committed, open } = await start(once(place, boom));
      // A reader is closed at the end of its split, where the attempt still runs.
      if (place === 'close reader') expect(outcome.value).toMatchObject({ code: 'SOURCE_FAILED' });
      else {
        expect(outcome.value).toBe('finished');
        expect(committed).toEqual([10, 20, 30]);
        expect(warnings).toEqual([expect.stringContaining('boom')]);
      }
      expect([...open]).toEqual([place.slice('close '.length)]);
    },
  );

  test.each(CLOSINGS)('that throws (%s) does not hide the failure before it', async (place) => {
    const { outcome, open } = await start((at) => {
      if (at === 'write') throw new Error('the reason');
      if (at === place) throw new Error('boom');
    });
    expect(outcome.value).toMatchObject({ message: expect.stringContaining('the reason') });
    expect([...open]).toEqual([place.slice('close '.length)]);
  });

  test.each(CLOSINGS)('that throws (%s) does not keep a job with checkpoints from being cancelled', async (place) => {
    const { job, clock, outcome } = await start((at, signal) => {
      if (at === 'poll') return untilAborted(signal);
      if (at === place) throw new Error('boom');
    });
    void job.cancel();
    await clock.settle();
    expect(outcome.value).toBe('cancelled');
  });

  test('a job without checkpoints that cannot publish what it has is not just cancelled: it has failed', async () => {
    let polls = 0;
    const { job, clock, outcome } = await start((at, signal) => {
      if (at === 'poll' && ++polls === 2) return untilAborted(signal);
      if (at === 'commit') throw new Error('boom');
    }, false);
    job.cancel().catch(() => undefined);
    await clock.settle();
    expect(outcome.value).toMatchObject({ code: 'COMMIT_FAILED' });
    expect(job.status).toBe('failed');
  });

  test('is done although the coordinator cannot end the attempt', async () => {
    const { outcome, open } = await failingCall('attemptEnded');
    expect(outcome.value).toMatchObject({ message: 'attemptEnded failed' });
    expect([...open]).toEqual([]);
  });
});

describe('an attempt that does not end', () => {
  const ALL = [...PLACES.filter((place) => place !== 'record'), ...CLOSINGS];
  /** User code, which nothing but the end of the process can end. */
  const OPERATORS: readonly Place[] = ['open operator', 'close operator'];
  const CALLS = ALL.filter((place) => !OPERATORS.includes(place));
  const hangingIn =
    (place: Place): At =>
    (at, signal) => {
      if (at === place) return never();
      // Something for the job to be busy with where only closing hangs.
      if (at === 'poll' && place.startsWith('close')) return untilAborted(signal);
    };
  const patient: CallTimeoutOptions = { source: '1 h', sink: '1 h', storage: '1 h', state: '1 h' };

  test.each(CALLS)('(%s) is ended when the time of the call is over, and the job with it', async (place) => {
    const { job, clock, outcome, open } = await start(hangingIn(place));
    const stalled: string[] = [];
    job.events$.subscribe((event) => {
      if (event.kind === 'call-stalled') stalled.push(event.of);
    });
    void job.cancel().catch(() => undefined);
    await clock.advance(150_000);
    expect(outcome.value).toBe('cancelled');
    expect(clock.pendingTimers).toBe(0);
    // Closing a reader ends its poll, whatever that waits for.
    expect(stalled).toHaveLength(place === 'poll' ? 0 : 1);
    const left = place.startsWith('close') ? [place.slice('close '.length)] : [];
    expect([...open]).toEqual(left);
  });

  test.each(CALLS.filter((place) => !place.startsWith('close') && place !== 'poll' && place !== 'commit'))(
    '(%s) fails the job by the name of the call where nothing else ends it',
    async (place) => {
      const { clock, outcome } = await start(hangingIn(place));
      await clock.advance(150_000);
      expect(outcome.value).toMatchObject({ code: 'CALL_TIMED_OUT', recoverable: true });
    },
  );

  test('waits for records for as long as none come', async () => {
    const { job, clock } = await start(hangingIn('poll'));
    await clock.advance(3_600_000);
    expect(job.status).toBe('running');
    void job.cancel();
    await clock.settle();
    expect(job.status).toBe('cancelled');
  });

  test.each(ALL.filter((place) => place !== 'poll'))(
    '(%s) fails the job after the cancellation timeout where calls may take longer, and no other one starts',
    async (place) => {
      const { job, clock, outcome, coordinator } = await start(hangingIn(place), true, undefined, patient);
      void job.cancel().catch(() => undefined);
      await clock.advance(179_999);
      expect(job.status).toBe('cancelling');
      await clock.advance(1);
      expect(outcome.value).toMatchObject({
        code: 'CANCELLATION_TIMEOUT',
        recoverable: false,
        message: expect.stringMatching(/It waits for .*(operator|enumerator|commits)/),
      });
      expect(coordinator.log.filter((call) => call === 'beginAttempt')).toHaveLength(1);
      expect(clock.pendingTimers).toBe(0);
    },
  );
});

test('an attempt that waits for the checkpoint storage says that, and accuses no operator', async () => {
  const coordinator = new HandCoordinator();
  coordinator.on = (call) => (call === 'attemptEnded' ? never() : undefined);
  const { clock, outcome } = await start(once('poll', boom), true, coordinator);
  await clock.advance(180_000);
  expect(outcome.value).toMatchObject({
    code: 'CANCELLATION_TIMEOUT',
    message: expect.stringContaining('It waits for the checkpoint storage, for checkpoints under way'),
  });
});

describe('a process that another one has taken over from', () => {
  test('ends for that reason, whatever failed because of it, which is the cause', async () => {
    const coordinator = new HandCoordinator();
    coordinator.on = (call) => {
      if (call.startsWith('verify')) throw new WeirError('STORAGE_FENCED', 'the lock is lost', { recoverable: false });
    };
    const { outcome } = await start(once('poll', boom), true, coordinator);
    expect(outcome.value).toMatchObject({
      code: 'STORAGE_FENCED',
      message: 'STORAGE_FENCED: the lock is lost',
      cause: { code: 'SOURCE_FAILED' },
    });
  });

  test('is not asked for longer than ten seconds', async () => {
    const coordinator = new HandCoordinator();
    coordinator.on = (call) => (call.startsWith('verify') ? never() : undefined);
    const { clock, outcome } = await start(once('poll', boom), true, coordinator);
    await clock.advance(9_999);
    expect(outcome.value).toBeUndefined();
    await clock.advance(1);
    expect(outcome.value).toMatchObject({ code: 'SOURCE_FAILED' });
  });
});

describe('subscribers', () => {
  afterEach(() => {
    config.onUnhandledError = null;
  });

  test('that throw do not touch the job', async () => {
    const unhandled: unknown[] = [];
    config.onUnhandledError = (error) => unhandled.push(error);
    const commit = deferred();
    const { job, clock, committed, outcome } = await start(once('commit', () => commit.promise));
    job.events$.subscribe(boom);
    job.status$.subscribe(boom);
    commit.resolve();
    await clock.settle();
    await new Promise((resolve) => setTimeout(resolve));
    expect([outcome.value, committed]).toEqual(['finished', [10, 20, 30]]);
    expect(unhandled).toEqual([]);
  });

  test('may come and go as they like', async () => {
    const commit = deferred();
    const { job, clock, outcome } = await start(once('commit', () => commit.promise));
    for (let i = 0; i < 3; i++) job.events$.subscribe().unsubscribe();
    commit.resolve();
    await clock.settle();
    expect(outcome.value).toBe('finished');
    const events: JobEvent[] = [];
    let isComplete = false;
    job.events$.subscribe({
      next: (event) => events.push(event),
      complete: () => {
        isComplete = true;
      },
    });
    expect(events.flatMap((event) => (event.kind === 'status' ? [event.status] : [event.kind]))).toEqual([
      'starting',
      'attempt-started',
      'running',
      'finishing',
      'finished',
    ]);
    expect(isComplete).toBe(true);
  });
});

describe('a manual checkpoint', () => {
  test('is refused where none are taken', async () => {
    const { job } = await start((at, signal) => (at === 'poll' ? untilAborted(signal) : undefined), false);
    await expect(job.triggerCheckpoint()).rejects.toMatchObject({ code: 'CHECKPOINT_FAILED' });
    expect(job.checkpointStatistics()).toBeUndefined();
    await job.cancel();
  });

  test('is refused when the job has ended, or has not begun', async () => {
    const { job } = await start(() => undefined);
    await expect(job.triggerCheckpoint()).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
    const { job: early } = await start((at, signal) => (at === 'enumerator' ? untilAborted(signal) : undefined));
    await expect(early.triggerCheckpoint()).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
    await early.cancel();
  });
});
