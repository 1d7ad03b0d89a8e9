import { mkdtempSync, rmSync } from 'node:fs';
import { unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OutsideWork, type Work } from '../../src/simulator/outside-work.js';
import { SimulatedClock } from '../../src/simulator/simulated-clock.js';
import { seededRandom } from '../../src/seeded-random.js';

interface Later {
  finish(): void;
  readonly promise: Promise<void>;
}
function later(): Later {
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
    const flush = later();
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
    const slice = later();
    const written = outside.run(async (on) => {
      await on.pause(slice.promise);
      return 'written';
    });
    clock.timer(1, slice.finish);
    expect(await clock.step(() => true)).toBe(true);
    expect(await written).toBe('written');
    await outside.settled();
  });

  test('takes no step while one part of it still uses files and another waits for one, and asks in the order of places', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'weir-outside-'));
    const outside = new OutsideWork();
    const clock = new SimulatedClock(seededRandom(1), 0, outside);
    const seen: string[] = [];
    const part = async (on: Work, files: number, place: number): Promise<void> => {
      for (let n = 0; n < files; n++) await writeFile(join(dir, `${String(place)}-${String(n)}`), 'x');
      await on.ask(place, () => {
        seen.push(`asked at ${String(place)}`);
        return new Promise((resolve) => clock.timer(1, () => resolve(undefined)));
      });
    };
    const done = outside.run((on) => Promise.all([30, 0, 10].map((files) => part(on, files, on.place()))));
    clock.timer(0, () => seen.push('stepped'));
    while (await clock.step(() => true));
    await done;
    expect(seen).toEqual(['asked at 0', 'asked at 1', 'asked at 2', 'stepped']);
    rmSync(dir, { recursive: true });
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
      .run(async (on) => {
        try {
          await on.pause(new Promise(() => undefined));
        } finally {
          await unlink(join(tmpdir(), 'weir-is-not-there')).catch(() => undefined);
          // Nor does anything come that is asked for only now.
          await on.ask(on.place(), () => new Promise(() => undefined)).catch(() => seen.push('closed'));
        }
      })
      .then(settled, settled);
    await outside.end();
    expect(seen).toEqual(['closed']);
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
