import { createMemoryStateBackend } from '@weir/backend-memory';
import { SILENT, type Key, type MapState, type StateExpiry, type ValueState } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';
import { countingSerializer } from '../support/store.js';

interface Stamped {
  readonly since: number;
  readonly value: unknown;
}
const expiry: StateExpiry = { isExpired: () => false, shown: (stored) => (stored as Stamped).value };

test.each([
  ['a scalar', 1, 0],
  ['an object', { n: 1 }, 1],
])('reading %s of a state that expires counts as a change only if it could be one', async (_what, value, encoded) => {
  const serializer = countingSerializer();
  const store = await createMemoryStateBackend().open({
    job: 'orders',
    operator: 'totals',
    subtask: 0,
    keyGroups: { first: 0, last: 127 },
    maxParallelism: 128,
    states: [
      { name: 'value', kind: 'value', serializer, expiry },
      { name: 'map', kind: 'map', serializer, expiry },
    ],
    clock: new VirtualClock(),
    logger: SILENT,
  });
  const single = store.handle('value') as ValueState<Stamped>;
  const map = store.handle('map') as MapState<Key, Stamped>;
  store.setCurrentKey('a');
  single.update({ since: 1, value });
  map.set('k', { since: 1, value });
  const capture = store.capture({ checkpointId: 1, mode: 'full' });
  expect([single.value()?.value, map.get('k')?.value, [...map.entries()].length]).toEqual([value, value, 1]);
  expect(serializer.encoded, 'what the capture had to preserve').toBe(2 * encoded);
  capture.release();
  await store.close();
});
