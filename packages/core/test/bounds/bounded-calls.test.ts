import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { BoundedCalls } from '../../src/bounds/bounded-calls.js';
import { CALLS, timeoutOf, type Call, type CallName } from '../../src/bounds/calls.js';
import type { JobEventBody } from '../../src/contracts/job-events.js';
import { SILENT } from '../../src/contracts/logger.js';

const TIMEOUTS = { storage: 1000, source: 2000, sink: 4000, state: 8000 };
const NEVER = new Promise<never>(() => undefined);

function bench(): {
  readonly calls: BoundedCalls;
  readonly clock: VirtualClock;
  readonly events: JobEventBody[];
  readonly stalled: () => number;
  readonly timedOut: () => number;
} {
  const clock = new VirtualClock();
  const events: JobEventBody[] = [];
  let stalled = (): number => -1;
  let timedOut = 0;
  const calls = new BoundedCalls({
    job: 'orders',
    timeouts: TIMEOUTS,
    clock,
    logger: SILENT,
    metrics: {
      counter: () => ({ add: (count) => (timedOut += count) }),
      histogram: () => ({ record: () => undefined }),
      gauge: (_name, read) => {
        stalled = read;
        return () => undefined;
      },
    },
    emit: (event) => events.push(event),
  });
  return { calls, clock, events, stalled: () => stalled(), timedOut: () => timedOut };
}

function outcomeOf<T>(promise: Promise<T>): { value?: T; error?: unknown } {
  const outcome: { value?: T; error?: unknown } = {};
  promise.then(
    (value) => (outcome.value = value),
    (error: unknown) => (outcome.error = error),
  );
  return outcome;
}

describe('a call that answers', () => {
  test('costs no timer if it does so at once', () => {
    const { calls, clock } = bench();
    let written = 0;
    calls.run('sink.write', 'sink out', () => {
      written++;
    });
    expect(written).toBe(1);
    expect(calls.run('source.start', 'source in', () => 7)).toBe(7);
    expect(clock.pendingTimers).toBe(0);
  });

  test('gives what it gives, also its error, and leaves no timer', async () => {
    const { calls, clock, events } = bench();
    expect(await calls.run('storage.list', 'storage', () => Promise.resolve([1]))).toEqual([1]);
    const broken = calls.run('storage.list', 'storage', () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    expect(clock.pendingTimers).toBe(0);
    expect(events).toEqual([]);
  });
});

describe('a call that never answers', () => {
  test.each(Object.keys(CALLS) as CallName[])('%s is told of while it hangs, and is given up by name', async (call) => {
    const { contract, bound }: Call = CALLS[call];
    const { calls, clock, events, stalled, timedOut } = bench();
    const timeoutMs = timeoutOf(call, TIMEOUTS);
    const outcome = outcomeOf<unknown>(calls.run(call, 'thing behind', () => NEVER));
    await clock.advance(timeoutMs / 4);
    expect(events).toEqual([{ kind: 'call-stalled', call, of: 'thing behind', waitedMs: timeoutMs / 4, timeoutMs }]);
    expect(stalled()).toBe(1);
    expect(outcome).toEqual({});
    await clock.advance(timeoutMs * 0.75 - 1);
    expect(outcome).toEqual({});
    await clock.advance(1);
    expect([stalled(), timedOut()]).toEqual([0, 1]);
    if (bound === 'closing') {
      expect(outcome).toEqual({ value: undefined });
      expect(events.at(-1)).toMatchObject({ kind: 'warning', message: expect.stringContaining('left behind') });
    } else {
      expect(outcome.error).toMatchObject({ code: 'CALL_TIMED_OUT', recoverable: true });
      expect(String(outcome.error)).toContain(`The thing behind of job orders has not answered ${call.split('.')[1]!}`);
      expect(String(outcome.error)).toContain(`callTimeouts.${contract}`);
    }
    expect(clock.pendingTimers).toBe(0);
  });

  test('stops counting its time when the job is over, so that the process can end', async () => {
    const { calls, clock } = bench();
    const outcome = outcomeOf<unknown>(calls.run('storage.delete', 'storage', () => NEVER));
    await clock.advance(10);
    calls.close();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10_000);
    expect(outcome).toEqual({});
  });
});

describe('a call that moves', () => {
  test('is not given up for as long as it does, however slow it is', async () => {
    const { calls, clock, events } = bench();
    let bytes = 0;
    let finish: (value: string) => void = () => undefined;
    const upload = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const outcome = outcomeOf(calls.run('storage.finish', 'storage', () => upload, { progress: () => bytes }));
    for (let i = 0; i < 50; i++) {
      bytes++;
      await clock.advance(240);
    }
    expect(outcome).toEqual({});
    expect(events).toEqual([]);
    finish('stored');
    await clock.settle();
    expect(outcome.value).toBe('stored');
  });

  test('is given up when it stops to', async () => {
    const { calls, clock } = bench();
    let bytes = 0;
    const outcome = outcomeOf(calls.run('storage.finish', 'storage', () => NEVER, { progress: () => bytes }));
    await clock.advance(200);
    bytes++;
    await clock.advance(1040);
    expect(outcome).toEqual({});
    await clock.advance(20);
    expect(outcome.error).toMatchObject({
      code: 'CALL_TIMED_OUT',
      message: expect.stringContaining('without any progress'),
    });
  });

  test('is given up all the same where the whole is bounded', async () => {
    const { calls, clock } = bench();
    let bytes = 0;
    const outcome = outcomeOf(calls.run('storage.list', 'storage', () => NEVER, { progress: () => bytes++ }));
    await clock.advance(1000);
    expect(outcome.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
  });
});

describe('an answer that comes too late', () => {
  test('is given back', async () => {
    const { calls, clock } = bench();
    const released: string[] = [];
    let answer: (value: string) => void = () => undefined;
    const late = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const outcome = outcomeOf(
      calls.run('storage.create', 'storage', () => late, { late: (value) => released.push(value) }),
    );
    await clock.advance(1000);
    expect(outcome.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
    answer('location');
    await clock.settle();
    expect(released).toEqual(['location']);
  });

  test('hurts nobody if it is an error, or if it cannot be given back', async () => {
    const { calls, clock } = bench();
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', onUnhandled);
    let fail: (error: Error) => void = () => undefined;
    const broken = new Promise<string>((_, reject) => {
      fail = reject;
    });
    outcomeOf(calls.run('storage.create', 'storage', () => broken));
    let answer: (value: string) => void = () => undefined;
    const late = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const refuse = (): Promise<never> => Promise.reject(new Error('cannot be discarded'));
    outcomeOf(calls.run('storage.create', 'storage', () => late, { late: refuse }));
    await clock.advance(1000);
    fail(new Error('late'));
    answer('location');
    await clock.settle();
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled).toEqual([]);
  });
});
