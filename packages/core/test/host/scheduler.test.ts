import { describe, expect, test } from 'vitest';
import { Scheduler, type Runnable } from '../../src/host/scheduler.js';
import { TickingClock } from '../support/ticking-clock.js';

/** Works for as long as it is let, up to `units` looks at the clock. */
function worker(log: string[], name: string, units = Number.POSITIVE_INFINITY): Runnable {
  let left = units;
  return {
    run(slice) {
      log.push(name);
      while (left > 0 && !slice.isOver()) left--;
      return left > 0;
    },
  };
}
const counts = (log: readonly string[]): Record<string, number> => {
  const all: Record<string, number> = {};
  for (const name of log) all[name] = (all[name] ?? 0) + 1;
  return all;
};

describe('the scheduler', () => {
  test('runs what was woken in a later turn, once however often it was woken', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    const log: string[] = [];
    const idle: Runnable = { run: () => log.push('run') < 0 };
    for (let i = 0; i < 5; i++) scheduler.wake(idle);
    expect(log).toEqual([]);
    await clock.settle();
    expect(log).toEqual(['run']);
  });

  test('gives busy subtasks turns of about the same number', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    const log: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) scheduler.wake(worker(log, name));
    await clock.run(100);
    const turns = Object.values(counts(log));
    expect(turns).toHaveLength(5);
    expect(Math.max(...turns) - Math.min(...turns)).toBeLessThanOrEqual(1);
    scheduler.stop();
  });

  test('lets several busy subtasks have their share of one turn of the event loop', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    const log: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) scheduler.wake(worker(log, name));
    await clock.run(1);
    expect(log.slice(0, 3)).toEqual(['a', 'b', 'c']);
    scheduler.stop();
  });

  test('gives the event loop back after a few milliseconds, also to a single subtask that never has enough', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    scheduler.wake(worker([], 'busy'));
    let timers = 0;
    const tick = (): void => {
      timers++;
      clock.nextTurn(tick);
    };
    clock.nextTurn(tick);
    const before = clock.monotonic();
    await clock.run(40);
    expect(timers).toBe(20);
    expect((clock.monotonic() - before) / timers).toBeLessThan(5);
    scheduler.stop();
  });

  test('runs a subtask again that was woken while it ran', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    let runs = 0;
    const self: Runnable = {
      run: () => {
        if (++runs < 3) scheduler.wake(self);
        return false;
      },
    };
    scheduler.wake(self);
    await clock.settle();
    expect(runs).toBe(3);
  });

  test('starves neither background work nor the subtasks in front of it', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    const log: string[] = [];
    scheduler.wake(worker(log, 'subtask'));
    for (const name of ['x', 'y']) inBackground(name).catch(() => undefined);
    await clock.run(100);
    const { subtask = 0, x = 0, y = 0 } = counts(log);
    expect(subtask).toBeGreaterThanOrEqual(100);
    expect(x + y).toBeGreaterThanOrEqual(90);
    expect(Math.abs(x - y)).toBeLessThanOrEqual(1);
    scheduler.stop();

    async function inBackground(name: string): Promise<void> {
      const slice = scheduler.backgroundSlice(new AbortController().signal);
      for (;;) {
        await slice.next();
        log.push(name);
        while (!slice.isOver());
      }
    }
  });

  test('gives background work a slice in every turn, also when no subtask has anything to do', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    const slice = scheduler.backgroundSlice(new AbortController().signal);
    expect(slice.isOver()).toBe(true);
    const granted = slice.next();
    await clock.settle();
    await granted;
    expect(slice.isOver()).toBe(false);
    for (let i = 0; i < 500; i++) clock.monotonic();
    expect(slice.isOver()).toBe(true);
  });

  test('ends a wait for a slice when it is given up, and passes the turn on', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    const abort = new AbortController();
    const first = scheduler.backgroundSlice(abort.signal).next();
    const second = scheduler.backgroundSlice(new AbortController().signal).next();
    abort.abort(new Error('given up'));
    await expect(first).rejects.toThrow('given up');
    await expect(scheduler.backgroundSlice(abort.signal).next()).rejects.toThrow('given up');
    await clock.run(1);
    await second;
  });

  test('runs nothing any more once it is stopped, also from inside a run, and leaves no turn behind', async () => {
    const clock = new TickingClock();
    const scheduler = new Scheduler(clock);
    const log: string[] = [];
    scheduler.wake({
      run: () => {
        scheduler.stop();
        return true;
      },
    });
    scheduler.wake(worker(log, 'later'));
    await clock.settle();
    scheduler.wake(worker(log, 'late'));
    const refused = scheduler.backgroundSlice(new AbortController().signal).next();
    await expect(refused).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
    expect(await clock.run(1)).toBe(false);
    expect(log).toEqual([]);
  });

  test('ends the waits for background slices when it is stopped', async () => {
    const scheduler = new Scheduler(new TickingClock());
    const waiting = scheduler.backgroundSlice(new AbortController().signal).next();
    scheduler.stop();
    await expect(waiting).rejects.toMatchObject({ code: 'JOB_NOT_RUNNING' });
  });
});
