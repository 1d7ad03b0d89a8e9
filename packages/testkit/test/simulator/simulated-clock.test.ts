import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/index.js';
import { SimulatedClock } from '../../src/simulator/simulated-clock.js';

async function run(clock: SimulatedClock): Promise<void> {
  while (await clock.step(() => true));
}

async function order(seed: number): Promise<string> {
  const clock = new SimulatedClock(seededRandom(seed), 0);
  const seen: string[] = [];
  for (let i = 0; i < 10; i++) {
    clock.nextTurn(() => seen.push(`turn ${String(i)}`));
    clock.timer(i / 10, () => seen.push(`timer ${String(i)}`));
  }
  await run(clock);
  return seen.join(', ');
}

describe('a simulated clock', () => {
  test('runs everything that was asked for, in the same order for the same seed', async () => {
    expect((await order(1)).split(', ')).toHaveLength(20);
    expect(await order(1)).toBe(await order(1));
  });

  test('has another order for another seed', async () => {
    expect(new Set(await Promise.all([1, 2, 3, 4].map(order))).size).toBe(4);
  });

  test('never fires a timer early', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const clock = new SimulatedClock(seededRandom(seed), 1000);
      const fired: number[] = [];
      for (const delay of [0, 1, 10, 100]) clock.timer(delay, () => fired.push(clock.time - 1000 - delay));
      await run(clock);
      expect(fired).toHaveLength(4);
      expect(Math.min(...fired)).toBeGreaterThanOrEqual(0);
    }
  });

  test('lets promises settle between two steps', async () => {
    const clock = new SimulatedClock(seededRandom(1), 0);
    const seen: string[] = [];
    clock.timer(0, () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => seen.push('promise'));
    });
    clock.timer(100, () => seen.push('timer'));
    await run(clock);
    expect(seen).toEqual(['promise', 'timer']);
  });

  test('passes while code looks at it, so that a slice ends', () => {
    const clock = new SimulatedClock(seededRandom(1), 0);
    const before = clock.monotonic();
    let looks = 0;
    while (clock.monotonic() < before + 1) looks++;
    expect(looks).toBeGreaterThan(0);
    expect(clock.now()).toBeGreaterThanOrEqual(1);
  });

  test('forgets what was cancelled, and everything once the process is dead', async () => {
    const clock = new SimulatedClock(seededRandom(1), 0);
    let fired = 0;
    const count = (): void => {
      fired++;
    };
    clock.timer(1, count)();
    clock.nextTurn(count)();
    expect(clock.pendingOfJob).toBe(0);
    clock.timer(1, count);
    clock.later(1, count);
    expect(clock.pendingOfJob).toBe(1);
    clock.kill();
    clock.timer(1, count);
    await run(clock);
    expect(fired).toBe(0);
  });
});
