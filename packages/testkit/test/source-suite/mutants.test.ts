import { describe, expect, test } from 'vitest';
import type { Fault } from './array-source.js';
import { ARRAYS, arrayFixture, failedWith, logFixture, queueFixture } from './fixtures.js';
import type { LogFault } from './log-source.js';
import type { QueueFault } from './queue-source.js';

/** Each row is a source that is broken in one way, and a test that finds it. Some of them wait in vain, for real. */
const TIMEOUT = { timeout: 120_000 };

describe('the suite finds a source that has, or does', () => {
  const faults: Record<Fault, RegExp> = {
    'position before the poll': /goes on with exactly the rest/,
    'position one too far': /goes on with exactly the rest/,
    'position of what was read ahead': /goes on with exactly the rest/,
    'shared position': /fresh positions/,
    'position that is no plain data': /goes on with exactly the rest/,
    'no position before the first record': /is where it was opened/,
    'position of the beginning before the first record': /is where it was opened/,
    'position moves on when nothing came': /goes on with exactly the rest/,
    'position of the beginning at the end': /goes on with exactly the rest/,
    'more than asked for': /reads every record.*1 at a time/,
    'loses a record when it waits': /reads every record/,
    'gives a record again after it waited': /reads every record/,
    'ends before the last record': /reads every record/,
    'ends and starts again': /ends a split once/,
    'poll outlives close': /can be closed while its input hangs/,
    'poll outlives the abort of its attempt': /when its attempt is aborted/,
    'close waits for an input that hangs': /can be closed while its input hangs/,
    'opening outlives the abort of its attempt': /gives up opening/,
    'throws when it is closed twice': /can be closed before the first poll, and twice/,
    'takes a failure for the end': /says that its input fails/,
    'takes a failure for nothing now': /says that its input fails/,
    'passes over what it failed to read': /says that its input fails/,
    'opens to an end when its input fails': /does not open, or does not read/,
    'starts at the beginning if the position is gone': /refuses a position/,
    'state is shared between readers': /take turns/,
    'place is shared between jobs': /serves two jobs/,
    'stays closed for the next attempt': /read on by the next attempt/,
    'ends with the first of its jobs': /serves two jobs/,
    'replans on restore': /goes on from every snapshot/,
    'forgets what is finished': /remembers over several restores/,
    'finishes what begins alike': /goes on without exactly those splits that are finished/,
    'deals twice': /deals each split out once/,
    'keeps what is handed back': /handed back to others/,
    'says nothing of what is handed back': /handed back to others/,
    'gives back less than a split': /handed back to others/,
    'snapshot without what was handed back': /handed back in its snapshots/,
    'snapshot without what is assigned': /goes on from every snapshot/,
    'snapshot of nothing': /takes fresh snapshots/,
    'snapshot is alive': /fresh snapshots/,
    'other ids in each run': /the same splits/,
    'split that no checkpoint takes': /splits that a checkpoint takes/,
    'ends while splits are left': /deals each split out once/,
  };
  test.each(Object.entries(faults) as [Fault, RegExp][])('%s', TIMEOUT, async (fault, title) => {
    expect(await failedWith(ARRAYS, () => arrayFixture(fault))).toMatch(title);
  });
});

describe('the suite finds a source that begins at "now" and', () => {
  const faults: Record<LogFault, RegExp> = {
    'begins at a new end until a record was read': /although it was opened and nothing was read before/,
    'begins at a new end until it was opened': /although its split was dealt out and not opened/,
    'begins at a new end until its split was dealt out': /although its split was not dealt out/,
    'goes to the end when nothing came': /behind what was read and a poll that brought nothing/,
  };
  test.each(Object.entries(faults) as [LogFault, RegExp][])('%s', TIMEOUT, async (fault, title) => {
    const failed = await failedWith({ grade: 'replayable', bounded: false }, () => logFixture(0, fault));
    expect(failed).toMatch(title);
  });
});

describe('the suite finds an acknowledging source that', () => {
  const faults: Record<QueueFault, RegExp> = {
    'acknowledges what it hands over': /leaves everything upstream/,
    'acknowledges all that it has handed over': /and nothing behind it/,
    'acknowledges one too many': /and nothing behind it/,
    'acknowledges nothing': /acknowledges what a completed checkpoint covers/,
    'acknowledges when it is closed': /leaves everything upstream/,
    'does not acknowledge what it drops': /has all that the checkpoint does not cover/,
    'drops what no checkpoint covers': /has all that the checkpoint does not cover/,
    'cannot be told while it waits': /while a poll is outstanding/,
    'cannot be told twice': /and twice/,
  };
  test.each(Object.entries(faults) as [QueueFault, RegExp][])('%s', TIMEOUT, async (fault, title) => {
    const failed = await failedWith({ grade: 'acknowledging', bounded: false }, () => queueFixture(fault));
    expect(failed).toMatch(title);
  });
});
