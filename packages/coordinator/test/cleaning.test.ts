import { WeirError } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { Cleaner, type Removal } from '../src/cleaning.js';
import { deferred } from './harness.js';

function cleaner(verifyLock: () => Promise<void> = async () => undefined): {
  cleaner: Cleaner;
  removed: number[];
  reports: string[];
  progress: number[];
  removal: (id: number, failures?: number) => Removal;
} {
  const removed: number[] = [];
  const reports: string[] = [];
  const progress: number[] = [];
  const made: Cleaner = new Cleaner({
    verifyLock,
    report: (message) => reports.push(message),
    onProgress: () => progress.push(made.cleaning),
  });
  const removal = (checkpointId: number, failures = 0): Removal => ({
    checkpointId,
    remove: async () => {
      if (failures-- > 0) throw new Error('busy');
      removed.push(checkpointId);
    },
  });
  return { cleaner: made, removed, reports, progress, removal };
}

test('removes one after the other and counts down, telling each time', async () => {
  const { cleaner: c, removed, progress, removal } = cleaner();
  for (const id of [1, 2, 3]) c.clean(removal(id));
  expect(c.cleaning).toBe(3);
  await c.idle();
  expect(removed).toEqual([1, 2, 3]);
  expect(progress).toEqual([2, 1, 0]);
});

test('what waits for commits counts, but is not under way', async () => {
  const { cleaner: c, removed, removal } = cleaner();
  const commits = deferred();
  c.cleanAfter(commits.promise, removal(1));
  await c.idle();
  expect(c.cleaning).toBe(1);
  expect(removed).toEqual([]);
  commits.resolve();
  await commits.promise;
  await c.idle();
  expect(removed).toEqual([1]);
  expect(c.cleaning).toBe(0);
});

test('what waited for commits that failed is kept for the next chance', async () => {
  const { cleaner: c, removed, progress, removal } = cleaner();
  c.cleanAfter(Promise.reject(new Error('the attempt ended')), removal(1));
  await new Promise(setImmediate);
  expect(c.cleaning).toBe(0);
  expect(progress).toEqual([0]);
  expect(removed).toEqual([]);
  c.retryBelow(2);
  await c.idle();
  expect(removed).toEqual([1]);
});

test('a failed removal is reported, does not count as cleaning, holds up nothing, and is tried again when a newer one is safe', async () => {
  const { cleaner: c, removed, reports, removal } = cleaner();
  c.clean(removal(1, 1));
  c.clean(removal(2));
  await c.idle();
  expect(removed).toEqual([2]);
  expect(reports).toEqual([expect.stringContaining('checkpoint 1 could not be removed')]);
  expect(c.cleaning).toBe(0);
  c.retryBelow(1);
  await c.idle();
  expect(removed).toEqual([2]);
  c.retryBelow(3);
  await c.idle();
  expect(removed).toEqual([2, 1]);
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
  expect(c.cleaning).toBe(0);
});

test('remembers no more than a thousand postponed removals, the newest ones', () => {
  const { cleaner: c, removal } = cleaner();
  for (let id = 1; id <= 1001; id++) c.postpone(removal(id));
  const ids = c.takePostponed().map((r) => r.checkpointId);
  expect(ids).toHaveLength(1000);
  expect(ids[0]).toBe(2);
  expect(c.takePostponed()).toEqual([]);
});
