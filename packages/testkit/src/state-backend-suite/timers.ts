import assert from 'node:assert/strict';
import { keyIdentity, type Key } from '@weir/core/contracts';
import { emptyContents } from './contents.js';
import type { Check } from './fixture.js';
import type { KeyedStores } from './keyed-stores.js';
import { KEYS } from './values.js';

/** Times of both signs, in between, and as large as they get. */
const TIMES: readonly number[] = [0, -1, 0.5, 1_700_000_000_123, Number.MAX_SAFE_INTEGER, -Number.MAX_VALUE];

/** What timers need of a map state: the engine keeps the times of each key in one, and finds out from `entries` what waits in a restored store. */
export function timerChecks(check: Check): void {
  check('keeps the times that keys wait for, and lists all of them when they were carried over', async (stores) => {
    for (const key of KEYS) for (const time of TIMES) stores.at(key).index.set(time, true);
    await stores.carryOver();
    const waiting = timesOf(stores);
    for (const key of KEYS) {
      const times = waiting.filter((timer) => keyIdentity(timer.key) === keyIdentity(key)).map(({ time }) => time);
      assert.deepStrictEqual(times.toSorted(ascending), TIMES.toSorted(ascending));
    }
    assert.equal(waiting.length, KEYS.length * TIMES.length, 'nothing but these waits');
    // As they are called: the earliest of all first, whatever its key.
    for (const { key, time } of waiting.toSorted((a, b) => a.time - b.time)) stores.at(key).index.delete(time);
    assert.deepStrictEqual(stores.contents, emptyContents(), 'a key that waits for nothing is not stored');
    await stores.carryOver();
    assert.deepStrictEqual(timesOf(stores), []);
  });

  check('does not pile up times that are put off over and over again', async (stores) => {
    for (let time = 1; time <= 5000; time++) {
      stores.at('a').index.set(time, true);
      stores.at('a').index.delete(time - 1);
      if (time === 2500) await stores.carryOver();
    }
    await stores.carryOver();
    assert.deepStrictEqual(timesOf(stores), [{ key: 'a', time: 5000 }]);
  });
}

function timesOf(stores: KeyedStores): { readonly key: Key; readonly time: number }[] {
  return stores.all.flatMap((store) =>
    [...store.entries('index')].flatMap((entry) =>
      // Bystanders have text in their maps.
      entry.kind === 'map' && entry.value === true ? [{ key: entry.key, time: entry.mapKey as number }] : [],
    ),
  );
}

function ascending(a: number, b: number): number {
  return a - b;
}
