import type { BlobHandle, KeyedStateHandle, SectionsHandle, StateMeta } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { restoredLinks } from '../../src/changelog/restored-links.js';

const RANGE = { first: 0, last: 63 };
const STATE: StateMeta = { name: 'total', kind: 'value', serializer: { id: 'msgpack', version: 1 } };
const BLOB: BlobHandle = { kind: 'shared', key: 'k', path: 'p', length: 1, algorithm: 'crc32', checksum: 0 };
const BASE: SectionsHandle = { range: RANGE, format: 'canonical', states: [STATE], groups: [], blob: BLOB };
const CHANGES: SectionsHandle = { ...BASE, format: 'changes' };
const NATIVE: KeyedStateHandle = {
  range: RANGE,
  format: 'native',
  engine: 'other',
  engineVersion: '1',
  options: {},
  states: [STATE],
  watermark: undefined,
  files: [],
};

const linksOf = (handles: readonly KeyedStateHandle[], isOwned = true): readonly SectionsHandle[] =>
  restoredLinks({ checkpointId: 3, handles, isOwned }, [STATE], RANGE);

test('checkpoints go on from a base and its changes', () => {
  expect(linksOf([BASE, CHANGES, CHANGES])).toEqual([BASE, CHANGES, CHANGES]);
  expect(linksOf([{ ...BASE, states: [{ ...STATE, kind: 'reducing' }] }])).toHaveLength(1);
});

test.each<[string, readonly KeyedStateHandle[]]>([
  ['of two subtasks', [BASE, CHANGES, BASE, CHANGES]],
  ['of another range', [{ ...BASE, range: { first: 0, last: 127 } }]],
  ['of a part of the range', [{ ...BASE, range: { first: 0, last: 31 } }]],
  ['in the files of one checkpoint', [{ ...BASE, blob: { ...BLOB, kind: 'blob' } }]],
  ['inside of its metadata', [{ ...BASE, blob: { kind: 'inline', bytes: new Uint8Array(1) } }]],
  ['of another backend', [NATIVE]],
  ['of a base of another backend', [NATIVE, CHANGES]],
  ['without a base', [CHANGES]],
  ['of a state that is gone', [{ ...BASE, states: [STATE, { ...STATE, name: 'gone' }] }]],
  ['of another serializer', [{ ...BASE, states: [{ ...STATE, serializer: { id: 'v8', version: 1 } }] }]],
  ['of an older serializer', [{ ...BASE, states: [{ ...STATE, serializer: { id: 'msgpack', version: 0 } }] }]],
])('they begin anew after handles %s', (_case, handles) => {
  expect(linksOf(handles)).toEqual([]);
});

test('they begin anew after what is not their own', () => {
  expect(linksOf([BASE, CHANGES], false)).toEqual([]);
});
