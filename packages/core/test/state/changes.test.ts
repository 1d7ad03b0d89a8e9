import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SerializerRef } from '../../src/contracts/serializer.js';
import type { RecordedKind, StateKind } from '../../src/contracts/snapshot.js';
import type { KeyedSection } from '../../src/contracts/state-backend.js';
import { ByteWriter } from '../../src/element/bytes.js';
import type { Key } from '../../src/element/key.js';
import {
  readChanges,
  writeEntryRemoval,
  writeListChange,
  writeListGrowth,
  writeMapChange,
  writeRemoval,
  writeValueChange,
} from '../../src/state/changes.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { anyKey } from '../element/keys.js';

type Change =
  | { readonly kind: 'value'; readonly key: Key; readonly value: unknown }
  | { readonly kind: 'list' | 'append'; readonly key: Key; readonly values: readonly unknown[] }
  | { readonly kind: 'map'; readonly key: Key; readonly mapKey: Key; readonly value: unknown }
  | { readonly kind: 'remove'; readonly key: Key }
  | { readonly kind: 'remove entry'; readonly key: Key; readonly mapKey: Key };

function write(change: Change, out: ByteWriter): void {
  switch (change.kind) {
    case 'value':
      writeValueChange(out, change.key, change.value, defaultSerializer);
      break;
    case 'list':
      writeListChange(out, change.key, ['before', ...change.values], 1, 1 + change.values.length, defaultSerializer);
      break;
    case 'append':
      writeListGrowth(out, change.key, [...change.values, 'after'], 0, change.values.length, defaultSerializer);
      break;
    case 'map':
      writeMapChange(out, change.key, change.mapKey, change.value, defaultSerializer);
      break;
    case 'remove':
      writeRemoval(out, change.key);
      break;
    case 'remove entry':
      writeEntryRemoval(out, change.key, change.mapKey);
      break;
  }
}

function sectionOf(
  kind: RecordedKind,
  changes: readonly Change[],
  serializer: SerializerRef = defaultSerializer,
): KeyedSection {
  const out = new ByteWriter();
  for (const change of changes) write(change, out);
  const state = { name: 'total', kind, serializer };
  return { keyGroup: 0, state, count: changes.length, rows: out.toBytes(), isChange: true };
}

function read(section: KeyedSection): Change[] {
  const changes: Change[] = [];
  readChanges(section, defaultSerializer, {
    value: (key, value) => changes.push({ kind: 'value', key, value }),
    list: (key, values) => changes.push({ kind: 'list', key, values }),
    append: (key, values) => changes.push({ kind: 'append', key, values }),
    map: (key, mapKey, value) => changes.push({ kind: 'map', key, mapKey, value }),
    remove: (key) => changes.push({ kind: 'remove', key }),
    removeEntry: (key, mapKey) => changes.push({ kind: 'remove entry', key, mapKey }),
  });
  return changes;
}

const anyValue = fc.oneof(fc.integer(), fc.string(), fc.record({ a: fc.boolean() }, { noNullPrototype: true }));
const removal = fc.record({ kind: fc.constant('remove' as const), key: anyKey });
const anyChange = (kind: StateKind): fc.Arbitrary<Change> => {
  switch (kind) {
    case 'value':
      return fc.oneof(removal, fc.record({ kind: fc.constant(kind), key: anyKey, value: anyValue }));
    case 'list': {
      const some = fc.constantFrom(kind, 'append' as const);
      return fc.oneof(removal, fc.record({ kind: some, key: anyKey, values: fc.array(anyValue) }));
    }
    case 'map':
      return fc.oneof(
        removal,
        fc.record({ kind: fc.constant(kind), key: anyKey, mapKey: anyKey, value: anyValue }),
        fc.record({ kind: fc.constant('remove entry' as const), key: anyKey, mapKey: anyKey }),
      );
  }
};

const normal = (key: Key): Key => (typeof key === 'object' ? key.map(normal) : key === 0 ? 0 : key);

describe.each<StateKind>(['value', 'list', 'map'])('changes of %s state', (kind) => {
  test('come back in their order', () => {
    fc.assert(
      fc.property(fc.array(anyChange(kind)), (changes) => {
        const expected = changes.map((change) => ({
          ...change,
          key: normal(change.key),
          ...('mapKey' in change && { mapKey: normal(change.mapKey) }),
        }));
        expect(read(sectionOf(kind, changes))).toEqual(expected);
      }),
    );
  });

  test('are refused, wherever they are cut short', () => {
    const section = sectionOf(kind, fc.sample(anyChange(kind), { numRuns: 4, seed: 7 }));
    for (let length = 0; length < section.rows.length; length++) {
      expect(() => read({ ...section, rows: section.rows.subarray(0, length) })).toThrow();
    }
  });

  test('are refused if there are more than were counted', () => {
    const section = sectionOf(kind, fc.sample(anyChange(kind), { numRuns: 4, seed: 7 }));
    expect(() => read({ ...section, count: 3 })).toThrow(/bytes left after 3 changes of 'total'/);
  });
});

test('reducing and aggregating state change like values', () => {
  const put: Change = { kind: 'value', key: 'a', value: 1 };
  for (const kind of ['reducing', 'aggregating'] as const) expect(read(sectionOf(kind, [put]))).toEqual([put]);
});

test.each<[RecordedKind, Change]>([
  ['value', { kind: 'append', key: 'a', values: [1] }],
  ['map', { kind: 'append', key: 'a', values: [1] }],
  ['value', { kind: 'remove entry', key: 'a', mapKey: 1 }],
  ['list', { kind: 'remove entry', key: 'a', mapKey: 1 }],
])('%s state knows no %o', (kind, change) => {
  expect(() => read(sectionOf(kind, [change]))).toThrow(RangeError);
});

test('what another serializer wrote is refused by name', () => {
  expect(() => read(sectionOf('value', [], { id: 'v8', version: 1 }))).toThrow(/^SERIALIZER_MISMATCH: state 'total'/);
});

// Bytes as they were first stored. They must be read, and are written, just so for ever.
test.each<[StateKind, readonly Change[], string]>([
  [
    'value',
    [
      { kind: 'value', key: 'SFO', value: 42 },
      { kind: 'remove', key: 7 },
    ],
    '01040553464f040000002a03050300000007',
  ],
  [
    'list',
    [
      { kind: 'list', key: ['SFO', 7n], values: [null, true] },
      { kind: 'append', key: ['SFO', 7n], values: ['ü'] },
    ],
    '010908040553464f020607020103020908040553464f020607010602c3bc',
  ],
  [
    'map',
    [
      { kind: 'map', key: false, mapKey: 'mon', value: { sum: 1 } },
      { kind: 'remove entry', key: false, mapKey: 'tue' },
      { kind: 'remove', key: true },
    ],
    '01010104056d6f6e0709d4724091a373756d010401010405747565030102',
  ],
])('changes of %s state of the first format are read, and written, as they are stored', (kind, changes, stored) => {
  const section = sectionOf(kind, changes);
  expect(Buffer.from(section.rows).toString('hex')).toBe(stored);
  expect(read({ ...section, rows: Buffer.from(stored, 'hex') })).toEqual(changes);
});
