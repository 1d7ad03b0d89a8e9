import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { compareKeys } from '../../src/element/compare-keys.js';
import type { Key } from '../../src/element/key.js';
import { TimerQueue, type Timer } from '../../src/time/timer-queue.js';

const key: fc.Arbitrary<Key> = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.constantFrom<Key>('0', 'a', [0], ['a', 1], true),
);
const time = fc.oneof(fc.integer({ min: -3, max: 12 }), fc.constantFrom(0.5, -0, 1e15));
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('add' as const, 'add' as const, 'remove' as const), key, time }),
  fc.record({ kind: fc.constant('poll' as const) }),
);

/** Sorted anew whenever it is asked. */
class NaiveQueue {
  #timers: Timer[] = [];

  add(key: Key, time: number): boolean {
    if (this.#find(key, time) >= 0) return false;
    this.#timers.push({ key, time });
    return true;
  }
  remove(key: Key, time: number): boolean {
    const at = this.#find(key, time);
    if (at < 0) return false;
    this.#timers.splice(at, 1);
    return true;
  }
  poll(): Timer | undefined {
    this.#timers.sort((a, b) => a.time - b.time || compareKeys(a.key, b.key));
    return this.#timers.shift();
  }
  get size(): number {
    return this.#timers.length;
  }
  #find(key: Key, time: number): number {
    return this.#timers.findIndex((timer) => timer.time === time && compareKeys(timer.key, key) === 0);
  }
}

describe('a queue of timers', () => {
  property.prop([fc.array(step, { maxLength: 200, size: 'max' })])(
    'gives them in the order of their times, then of their keys, each once',
    (steps) => {
      const queue = new TimerQueue();
      const naive = new NaiveQueue();
      const shown = (timer: Timer | undefined): unknown => timer && { key: timer.key, time: timer.time + 0 };
      for (const step of steps) {
        if (step.kind === 'poll') {
          expect(shown(queue.poll())).toEqual(shown(naive.poll()));
        } else expect(queue[step.kind](step.key, step.time)).toBe(naive[step.kind](step.key, step.time));
        expect(queue.size).toBe(naive.size);
      }
      while (naive.size > 0) {
        const next = shown(naive.poll());
        expect(shown(queue.first)).toEqual(next);
        expect(shown(queue.poll())).toEqual(next);
      }
      expect(queue.poll()).toBeUndefined();
    },
  );

  test('keeps a tuple as it was when it was given', () => {
    const queue = new TimerQueue();
    const tuple = ['a', 1];
    queue.add(tuple, 5);
    tuple[0] = 'changed';
    expect(queue.first?.key).toEqual(['a', 1]);
    expect(queue.remove(['a', 1], 5)).toBe(true);
  });

  test('stays small where a timer is put off over and over again', () => {
    const queue = new TimerQueue();
    for (let time = 1; time < 10_000; time++) {
      queue.add('session', time);
      queue.remove('session', time - 1);
    }
    expect(queue.size).toBe(1);
  });
});
