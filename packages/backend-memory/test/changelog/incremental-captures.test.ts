import { defaultSerializer, type ValueState } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { Captures } from '../../src/capture/captures.js';
import { IncrementalCaptures } from '../../src/changelog/incremental-captures.js';
import { CurrentKey } from '../../src/state/current-key.js';
import { StoredValues } from '../../src/state/value-state.js';

const RANGE = { first: 0, last: 15 };

interface Bench {
  readonly captures: Captures;
  readonly incremental: IncrementalCaptures;
  /** Puts a value for each of so many keys. */
  update(keys: number): void;
}

function bench(): Bench {
  const captures = new Captures(RANGE, 1);
  const current = new CurrentKey('totals');
  const parts = { operator: 'totals', keyGroups: RANGE, maxParallelism: 16, current, captures };
  const state = new StoredValues({ name: 'total', kind: 'value', serializer: defaultSerializer }, 0, parts);
  const handle: ValueState<unknown, unknown> = state.handle;
  return {
    captures,
    incremental: new IncrementalCaptures({ captures, states: [state], range: RANGE }),
    update(keys) {
      for (let key = 0; key < keys; key++) {
        current.set(key);
        handle.update(1);
      }
    },
  };
}

describe('what is remembered of changes', () => {
  test('is nothing while all captures are full', () => {
    const { captures, incremental, update } = bench();
    update(100);
    incremental.full(1).release();
    update(100);
    expect(captures.log.isOn).toBe(false);
    expect(captures.isWatching).toBe(false);
    expect(captures.log.size).toBe(0);
  });

  test('takes no more than the state does, although no checkpoint ever completes', () => {
    const { captures, incremental, update } = bench();
    update(3000);
    let most = 0;
    for (let id = 1; id <= 100; id++) {
      const capture = incremental.incremental(id);
      if (id % 2 === 0) incremental.aborted(id);
      capture.release();
      update(1000);
      most = Math.max(most, captures.log.size);
    }
    expect(most).toBeLessThanOrEqual(3000 + 1024 + 1000);
  });

  test('is forgotten once a checkpoint has completed that tells it', async () => {
    const { captures, incremental, update } = bench();
    update(3000);
    for (let id = 1; id <= 3; id++) {
      incremental.incremental(id).release();
      update(500);
    }
    expect(captures.log.size).toBeGreaterThanOrEqual(500);
    const capture = incremental.incremental(4);
    const blob = { kind: 'shared', key: 'k', path: 'p', length: 1, algorithm: 'crc32', checksum: 0 } as const;
    await capture.write({ section: () => undefined }, { isOver: () => false, next: () => Promise.resolve() });
    capture.written?.([{ range: RANGE, format: 'canonical', states: [], groups: [], blob }]);
    capture.release();
    incremental.completed(4);
    expect(captures.log.size).toBe(0);
  });

  test('ends when nobody asks for it any more', () => {
    const { captures, incremental, update } = bench();
    update(3000);
    incremental.incremental(1).release();
    incremental.aborted(1);
    expect(captures.log.isOn).toBe(true);
    incremental.full(2).release();
    expect(captures.log.isOn).toBe(false);
    expect(captures.isWatching).toBe(false);
  });
});
