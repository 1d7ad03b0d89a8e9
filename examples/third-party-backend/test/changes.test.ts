import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ByteWriter,
  defaultSerializer,
  keyGroupOf,
  SILENT,
  systemClock,
  writeEntryRemoval,
  writeListChange,
  writeListGrowth,
  writeListRow,
  writeMapChange,
  writeMapRow,
  writeRemoval,
  writeValueChange,
  writeValueRow,
  type KeyedSection,
  type StateKind,
} from '@weir/core/contracts';
import { expect, test } from 'vitest';

const lmdb = await import('lmdb').catch(() => undefined);

/** Rows of key 7. */
function section(kind: StateKind, isChange: boolean, count: number, write: (out: ByteWriter) => void): KeyedSection {
  const out = new ByteWriter();
  write(out);
  const state = { name: kind, kind, serializer: { id: 'msgpack', version: 1 } };
  return { keyGroup: keyGroupOf(7, 128), state, count, rows: out.toBytes(), isChange };
}

test.skipIf(lmdb === undefined)('what has changed since another backend wrote its rows is taken back', async () => {
  const { createLmdbState } = await import('../src/index.js');
  const directory = mkdtempSync(join(tmpdir(), 'weir-lmdb-'));
  const kinds: readonly StateKind[] = ['value', 'list', 'map'];
  const store = await createLmdbState({ directory }).open({
    job: 'flights',
    operator: 'delays',
    subtask: 0,
    keyGroups: { first: 0, last: 127 },
    maxParallelism: 128,
    states: kinds.map((kind) => ({ name: kind, kind, serializer: defaultSerializer })),
    clock: systemClock,
    logger: SILENT,
  });
  const all = (kind: StateKind): unknown[] => [...store.entries(kind)];
  const s = defaultSerializer;

  store.restore(section('value', false, 1, (out) => writeValueRow(out, 7, 'old', s)));
  store.restore(section('value', true, 1, (out) => writeValueChange(out, 7, 'new', s)));
  expect(all('value')).toEqual([{ kind: 'value', key: 7, value: 'new' }]);
  store.restore(section('value', true, 1, (out) => writeRemoval(out, 7)));
  expect(all('value')).toEqual([]);

  store.restore(section('list', false, 1, (out) => writeListRow(out, 7, [1, 2, 3], 0, 3, s)));
  store.restore(section('list', true, 1, (out) => writeListChange(out, 7, [4], 0, 1, s)));
  store.restore(section('list', true, 1, (out) => writeListGrowth(out, 7, [5], 0, 1, s)));
  expect(all('list')).toEqual([{ kind: 'list', key: 7, values: [4, 5] }]);

  store.restore(section('map', false, 1, (out) => writeMapRow(out, 7, 'a', 1, s)));
  store.restore(section('map', true, 1, (out) => writeMapChange(out, 7, 'b', 2, s)));
  store.restore(section('map', true, 1, (out) => writeEntryRemoval(out, 7, 'a')));
  expect(all('map')).toEqual([{ kind: 'map', key: 7, mapKey: 'b', value: 2 }]);

  await store.close();
  rmSync(directory, { recursive: true, force: true });
});
