import { describe, expect, test } from 'vitest';
import { OutsideWork } from '../../src/simulator/outside-work.js';
import { SimulatedClock } from '../../src/simulator/simulated-clock.js';
import { seededRandom } from '../../src/seeded-random.js';

interface Work {
  finish(): void;
  readonly promise: Promise<void>;
}
function work(): Work {
  let finish = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { finish, promise };
}

describe('work that a simulated clock does not see', () => {
  test('is done before the next step', async () => {
    const outside = new OutsideWork();
    const clock = new SimulatedClock(seededRandom(1), 0, outside);
    const steps: string[] = [];
    const flush = work();
    const flushed = outside.run(() => flush.promise).then(() => steps.push('flushed'));
    clock.timer(1, () => steps.push('stepped'));
    setImmediate(() => setImmediate(flush.finish));
    await clock.step(() => true);
    await flushed;
    expect(steps).toEqual(['flushed', 'stepped']);
  });

  test('lets steps be taken while it waits for what they bring', async () => {
    const outside = new OutsideWork();
    const clock = new SimulatedClock(seededRandom(1), 0, outside);
    const slice = work();
    const written = outside.run(async () => {
      await outside.pause(slice.promise);
      return 'written';
    });
    clock.timer(1, slice.finish);
    expect(await clock.step(() => true)).toBe(true);
    expect(await written).toBe('written');
    await outside.settled();
  });

  test('counts no longer once it has failed', async () => {
    const outside = new OutsideWork();
    const failure = new Error('no disk');
    await expect(outside.run(() => Promise.reject(failure))).rejects.toBe(failure);
    await outside.settled();
  });

  test('ends with the process: what it holds is given back, and nobody of that process goes on', async () => {
    const outside = new OutsideWork();
    const seen: string[] = [];
    const settled = (): void => {
      seen.push('went on');
    };
    outside
      .run(async () => {
        try {
          await outside.pause(new Promise(() => undefined));
        } finally {
          seen.push('closed');
        }
      })
      .then(settled, settled);
    await outside.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual(['closed']);
  });

  test('leaves nothing open behind a process, whatever its closing throws, but what was closed before', async () => {
    const outside = new OutsideWork();
    const closed: string[] = [];
    outside.opened(() => closed.push('a') as unknown as undefined)();
    outside.opened(() => {
      closed.push('b');
      throw new Error('busy');
    });
    outside.opened(async () => {
      closed.push('c');
    });
    await outside.end();
    await outside.end();
    expect(closed).toEqual(['b', 'c']);
  });
});
