import { WeirError } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';
import { Cleaner, type Removal } from '../src/cleaning.js';
import { UnansweredCalls } from '../src/unanswered.js';
import { deferred } from './harness.js';

function cleaner(verifyLock: () => Promise<void> = async () => undefined): {
  clock: VirtualClock;
  cleaner: Cleaner;
  unanswered: UnansweredCalls;
  removed: number[];
  reports: string[];
  /** Tries, each as the id and when. */
  tries: string[];
  removal: (id: number, failures?: number) => Removal;
} {
  const clock = new VirtualClock();
  const unanswered = new UnansweredCalls();
  const removed: number[] = [];
  const reports: string[] = [];
  const tries: string[] = [];
  const made = new Cleaner({ clock, verifyLock, unanswered, report: (message) => reports.push(message) });
  const removal = (checkpointId: number, failures = 0): Removal => ({
    checkpointId,
    remove: async () => {
      tries.push(`${String(checkpointId)} at ${String(clock.now() / 1000)}`);
      if (failures-- > 0) throw new Error('busy');
      removed.push(checkpointId);
    },
  });
  return { clock, cleaner: made, unanswered, removed, reports, tries, removal };
}

const NEVER = (): Promise<void> => new Promise(() => undefined);

test('removes one after the other', async () => {
  const { cleaner: c, removed, removal } = cleaner();
  for (const id of [1, 2, 3]) c.clean(removal(id));
  expect(c.waiting).toBe(3);
  await c.idle();
  expect(removed).toEqual([1, 2, 3]);
  expect(c.waiting).toBe(0);
});

test('what waits for commits is not under way', async () => {
  const { cleaner: c, removed, removal } = cleaner();
  const commits = deferred();
  c.cleanAfter(commits.promise, removal(1));
  await c.idle();
  expect(c.waiting).toBe(1);
  expect(removed).toEqual([]);
  commits.resolve();
  await commits.promise;
  await c.idle();
  expect(removed).toEqual([1]);
  expect(c.waiting).toBe(0);
});

test('no more than two wait for commits: the oldest goes before', async () => {
  const { cleaner: c, removed, removal } = cleaner();
  for (const id of [1, 2, 3, 4]) c.cleanAfter(NEVER(), removal(id));
  await c.idle();
  expect(removed).toEqual([1, 2]);
  expect(c.waiting).toBe(2);
});

test('what waited for commits that failed is kept for the next chance', async () => {
  const { cleaner: c, removed, removal } = cleaner();
  c.cleanAfter(Promise.reject(new Error('the attempt ended')), removal(1));
  await new Promise(setImmediate);
  expect(removed).toEqual([]);
  c.retryBelow(1);
  await c.idle();
  expect(removed).toEqual([]);
  c.retryBelow(2);
  await c.idle();
  expect(removed).toEqual([1]);
});

test('a failed removal is reported, holds up nothing, and is tried again, each time later', async () => {
  const { clock, cleaner: c, removed, reports, tries, removal } = cleaner();
  c.clean(removal(1, 4));
  await c.idle();
  c.clean(removal(2));
  await clock.advance(100_000);
  expect(removed).toEqual([2, 1]);
  expect(tries).toEqual(['1 at 0', '2 at 1', '1 at 1', '1 at 3', '1 at 7', '1 at 15']);
  expect(reports).toHaveLength(4);
  expect(reports[0]).toMatch(/checkpoint 1 could not be removed/);
  expect(clock.pendingTimers).toBe(0);
});

test('one that always fails costs a try every ten minutes in the end, and the others nothing', async () => {
  const { clock, cleaner: c, removed, tries, removal } = cleaner();
  c.clean(removal(1, Infinity));
  for (let id = 2; id <= 7200; id++) {
    c.clean(removal(id));
    c.retryBelow(id);
    await clock.advance(1000);
  }
  expect(removed).toHaveLength(7199);
  expect(tries.filter((tried) => tried.startsWith('1 ')).length).toBeLessThan(25);
}, 30_000);

test('while everything fails, more and more time is left between two tries of whatever it is', async () => {
  const { clock, cleaner: c, tries, removed, removal } = cleaner();
  let isDown = true;
  const failing = (id: number): Removal => ({
    checkpointId: id,
    remove: async () => {
      const { remove } = removal(id, isDown ? 1 : 0);
      await remove();
    },
  });
  for (let id = 1; id <= 100; id++) c.clean(failing(id));
  await clock.advance(3_600_000);
  expect(tries.length).toBeLessThan(80);
  isDown = false;
  await clock.advance(600_000);
  expect(removed).toHaveLength(100);
});

test('one that is never answered is left to itself after a minute, and is not asked for again', async () => {
  const { clock, cleaner: c, removed, reports, unanswered, removal } = cleaner();
  let asked = 0;
  c.clean({
    checkpointId: 1,
    remove: () => {
      asked++;
      return NEVER();
    },
  });
  c.clean(removal(2));
  await clock.advance(59_999);
  expect(removed).toEqual([]);
  await clock.advance(1001);
  expect(removed).toEqual([2]);
  expect(reports).toEqual([expect.stringMatching(/checkpoint 1: the storage has not answered for 60000 ms/)]);
  await clock.advance(3_600_000);
  expect(asked).toBe(1);
  expect(c.waiting).toBe(1);
  expect(unanswered.count).toBe(1);
  expect(clock.pendingTimers).toBe(0);
});

test('one that fails after all is tried again; one that succeeds after all is done', async () => {
  for (const fails of [true, false]) {
    const { clock, cleaner: c, unanswered, removed, removal } = cleaner();
    const answer = deferred();
    let asked = 0;
    const again = removal(1);
    c.clean({ checkpointId: 1, remove: () => (asked++ === 0 ? answer.promise : again.remove()) });
    await clock.advance(60_000);
    if (fails) answer.reject(new Error('busy'));
    else answer.resolve();
    await clock.advance(10_000);
    expect(removed).toEqual(fails ? [1] : []);
    expect(c.waiting).toBe(0);
    expect(unanswered.count).toBe(0);
  }
});

test('a lock that is never verified is passed by as well', async () => {
  let isHanging = true;
  const { clock, cleaner: c, removed, removal } = cleaner(() => (isHanging ? NEVER() : Promise.resolve()));
  c.clean(removal(1));
  await clock.advance(60_000);
  isHanging = false;
  c.clean(removal(2));
  await clock.advance(1000);
  expect(removed).toEqual([2]);
});

test('a process that lost its lock removes nothing more, and says nothing: the files are no longer its own', async () => {
  let isFenced = false;
  const {
    cleaner: c,
    removed,
    reports,
    removal,
  } = cleaner(async () => {
    if (isFenced) throw new WeirError('STORAGE_FENCED', 'lost');
  });
  c.clean(removal(1));
  await c.idle();
  isFenced = true;
  c.clean(removal(2));
  await c.idle();
  isFenced = false;
  c.clean(removal(3));
  c.retryBelow(9);
  await c.idle();
  expect(removed).toEqual([1]);
  expect(reports).toEqual([]);
  expect(c.waiting).toBe(0);
});

test('remembers no more than a thousand removals, the newest ones, and says that once', () => {
  const { cleaner: c, reports, removal } = cleaner();
  for (let id = 1; id <= 1003; id++) c.postpone(removal(id));
  expect(reports).toEqual([expect.stringContaining('More than 1000 removals wait')]);
  const ids = c.stop().map((r) => r.checkpointId);
  expect(ids).toHaveLength(1000);
  expect(ids[0]).toBe(4);
  expect(c.stop()).toEqual([]);
});

test('what is named is removed once, however often that is asked for', async () => {
  const { clock, cleaner: c, tries, removal } = cleaner();
  const named = { ...removal(1, 1), what: 'Shared files' };
  for (let i = 0; i < 3; i++) c.clean(named);
  await clock.advance(100_000);
  // The first was under way when the others came.
  expect(tries).toEqual(['1 at 0', '1 at 1']);
});

test('once it has stopped, nothing is removed any more, also of what is under way, and no timer is left', async () => {
  const verifying = deferred();
  const { clock, cleaner: c, removed, removal } = cleaner(() => verifying.promise);
  c.clean(removal(1));
  c.clean(removal(2));
  expect(c.stop().map(({ checkpointId }) => checkpointId)).toEqual([2]);
  verifying.resolve();
  await clock.settle();
  expect(removed).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

test('once it has stopped, a removal that is never answered keeps no timer, and counts as none', async () => {
  const { clock, cleaner: c, reports } = cleaner();
  c.clean({ checkpointId: 1, remove: NEVER });
  await clock.settle();
  c.stop();
  expect(clock.pendingTimers).toBe(0);
  await c.idle();
  expect(c.waiting).toBe(0);
  expect(reports).toEqual([]);
});
