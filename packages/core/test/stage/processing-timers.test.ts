import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';
import { ProcessingTimers } from '../../src/stage/processing-timers.js';

function started(): { clock: VirtualClock; due: ProcessingTimers; log: string[]; wakes: () => number } {
  const clock = new VirtualClock();
  let wakes = 0;
  const due = new ProcessingTimers(clock, () => wakes++);
  return { clock, due, log: [], wakes: () => wakes };
}

test('an action runs when it is asked for after its time, not at it, and once', async () => {
  const { clock, due, log, wakes } = started();
  due.after(10, () => void log.push('ten'));
  due.after(5, () => void log.push('five'));
  await clock.advance(7);
  expect([log, wakes()]).toEqual([[], 1]);
  expect(due.run()).toBe(true);
  expect(due.run()).toBe(false);
  await clock.advance(7);
  expect(due.run()).toBe(true);
  expect(log).toEqual(['five', 'ten']);
});

test('what one action asks for waits for the next time, and what it cancels does not run', async () => {
  const { clock, due, log } = started();
  due.after(1, () => {
    log.push('first');
    cancel();
    due.after(0, () => void log.push('later'));
  });
  const cancel = due.after(1, () => void log.push('cancelled'));
  await clock.advance(1);
  expect(due.run()).toBe(true);
  expect(log).toEqual(['first']);
  await clock.settle();
  due.run();
  expect(log).toEqual(['first', 'later']);
});

test('nothing is left on the clock when it is closed, and nothing is taken any more', async () => {
  const { clock, due, log } = started();
  due.after(0, () => void log.push('due'));
  due.after(1000, () => void log.push('waiting'));
  await clock.settle();
  due.close();
  due.after(0, () => void log.push('too late'));
  expect(clock.pendingTimers).toBe(0);
  await clock.advance(2000);
  expect(due.run()).toBe(false);
  expect(log).toEqual([]);
});
