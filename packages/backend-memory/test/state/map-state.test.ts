import { defaultSerializer } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { Captures } from '../../src/capture/captures.js';
import { CurrentKey } from '../../src/state/current-key.js';
import { StoredMaps } from '../../src/state/map-state.js';

test('a map without entries takes no room', () => {
  const keyGroups = { first: 0, last: 0 };
  const current = new CurrentKey('totals');
  const parts = { operator: 'totals', keyGroups, maxParallelism: 1, current, captures: new Captures(keyGroups, 1) };
  const maps = new StoredMaps({ name: 'map', kind: 'map', serializer: defaultSerializer }, 0, parts);
  current.set('a');
  maps.handle.set('k', 1);
  maps.handle.set('l', 2);
  maps.handle.delete('k');
  expect([...maps.entries()]).toHaveLength(1);
  maps.handle.delete('l');
  for (const key of ['b', 'c', 'd']) {
    current.set(key);
    maps.handle.set('k', 1);
    maps.handle.delete('k');
  }
  expect(maps.group(0).length, 'places ever taken').toBe(1);
  current.set('a');
  maps.handle.set('m', 3);
  expect([...maps.handle.entries()]).toEqual([['m', 3]]);
});
