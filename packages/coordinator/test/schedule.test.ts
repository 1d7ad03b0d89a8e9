import type { Clock } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PeriodicSchedule, effectiveInterval, firstDelay, type ScheduleTiming } from '../src/schedule.js';

function scheduled(
  timing: ScheduleTiming,
  random = () => 0,
): { clock: VirtualClock; schedule: PeriodicSchedule; firings: number[] } {
  const clock = new VirtualClock();
  const firings: number[] = [];
  const schedule = new PeriodicSchedule({ clock, random, timing, fire: () => firings.push(clock.now()) });
  return { clock, schedule, firings };
}

test('a pause longer than the interval stretches the interval, and is never longer than a year', () => {
  expect(effectiveInterval({ intervalMs: 10, minPauseMs: 0 })).toBe(10);
  expect(effectiveInterval({ intervalMs: 10, minPauseMs: 25 })).toBe(25);
  expect(effectiveInterval({ intervalMs: 10, minPauseMs: Infinity })).toBe(365 * 24 * 3600 * 1000);
});

test('the first delay is any whole millisecond from the pause to the interval, both included', () => {
  const timing = { intervalMs: 12, minPauseMs: 10 };
  expect([0, 0.34, 0.67, 0.999999].map((r) => firstDelay(timing, () => r))).toEqual([10, 11, 12, 12]);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.nat(80),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (intervalMs, minPauseMs, r) => {
        const delay = firstDelay({ intervalMs, minPauseMs }, () => r);
        expect(delay).toBeGreaterThanOrEqual(minPauseMs);
        expect(delay).toBeLessThanOrEqual(Math.max(intervalMs, minPauseMs));
      },
    ),
  );
});

test('fires at a fixed rate from its first, random delay', async () => {
  const { clock, schedule, firings } = scheduled({ intervalMs: 10, minPauseMs: 0 }, () => 0.5);
  schedule.start();
  await clock.advance(35);
  expect(firings).toEqual([5, 15, 25, 35]);
});

test('a firing that comes late is followed by the next at its own time', async () => {
  const clock = new VirtualClock();
  // A timer that is 7 ms late each time, as on a busy event loop.
  const late: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    nextTurn: (action) => clock.nextTurn(action),
    timer: (ms, action) => clock.timer(ms + 7, action),
  };
  const firings: number[] = [];
  const schedule = new PeriodicSchedule({
    clock: late,
    random: () => 0,
    timing: { intervalMs: 10, minPauseMs: 0 },
    fire: () => firings.push(clock.now()),
  });
  schedule.start();
  await clock.advance(40);
  expect(firings).toEqual([7, 17, 27, 37]);
});

test('is armed again before it fires, so a throwing trigger does not end it', async () => {
  const clock = new VirtualClock();
  let firings = 0;
  const schedule = new PeriodicSchedule({
    clock,
    random: () => 0,
    timing: { intervalMs: 10, minPauseMs: 0 },
    fire: () => {
      firings++;
      if (firings === 1) throw new Error('no checkpoint today');
    },
  });
  schedule.start();
  await expect(clock.advance(5)).rejects.toThrow('no checkpoint today');
  await clock.advance(25);
  expect(firings).toBeGreaterThan(2);
});

test('stopping ends it and leaves no timer; starting again begins with a new random delay', async () => {
  const { clock, schedule, firings } = scheduled({ intervalMs: 10, minPauseMs: 0 });
  schedule.start();
  await clock.advance(10);
  schedule.stop();
  expect(clock.pendingTimers).toBe(0);
  await clock.advance(50);
  expect(firings).toEqual([0, 10]);
  schedule.start();
  await clock.advance(10);
  expect(firings).toEqual([0, 10, 60, 70]);
});

test('postponing moves the next firing to exactly that delay, and the rate goes on from there', async () => {
  const { clock, schedule, firings } = scheduled({ intervalMs: 10, minPauseMs: 0 });
  schedule.start();
  await clock.advance(12);
  schedule.postpone(3);
  await clock.advance(15);
  expect(firings).toEqual([0, 10, 15, 25]);
});

test('postponing does not start what is stopped', async () => {
  const { clock, schedule, firings } = scheduled({ intervalMs: 10, minPauseMs: 0 });
  schedule.postpone(1);
  await clock.advance(50);
  expect(firings).toEqual([]);
});
