import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Serializer, SerializerRef } from '../../src/contracts/serializer.js';
import type { StateKind } from '../../src/contracts/snapshot.js';
import type { KeyedSection } from '../../src/contracts/state-backend.js';
import { ByteWriter } from '../../src/element/bytes.js';
import type { Key } from '../../src/element/key.js';
import { isWeirError } from '../../src/errors.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { readRows, writeListRow, writeMapRow, writeValueRow } from '../../src/state/rows.js';
import { anyKey } from '../element/keys.js';

type Row =
  | { readonly kind: 'value'; readonly key: Key; readonly value: unknown }
  | { readonly kind: 'list'; readonly key: Key; readonly values: readonly unknown[] }
  | { readonly kind: 'map'; readonly key: Key; readonly mapKey: Key; readonly value: unknown };

const anyValue = fc.oneof(
  fc.integer(),
  fc.string(),
  fc.record({ a: fc.boolean(), b: fc.array(fc.double({ noNaN: true })) }, { noNullPrototype: true }),
);
const anyRow = (kind: StateKind): fc.Arbitrary<Row> => {
  switch (kind) {
    case 'value':
      return fc.record({ kind: fc.constant(kind), key: anyKey, value: anyValue });
    case 'list':
      return fc.record({ kind: fc.constant(kind), key: anyKey, values: fc.array(anyValue) });
    case 'map':
      return fc.record({ kind: fc.constant(kind), key: anyKey, mapKey: anyKey, value: anyValue });
  }
};

function write(row: Row, out: ByteWriter): void {
  switch (row.kind) {
    case 'value':
      writeValueRow(out, row.key, row.value, defaultSerializer);
      break;
    case 'list':
      writeListRow(out, row.key, ['before', ...row.values, 'after'], 1, 1 + row.values.length, defaultSerializer);
      break;
    case 'map':
      writeMapRow(out, row.key, row.mapKey, row.value, defaultSerializer);
      break;
  }
}

function sectionOf(kind: StateKind, rows: readonly Row[], serializer: SerializerRef = defaultSerializer): KeyedSection {
  const out = new ByteWriter();
  for (const row of rows) write(row, out);
  return { keyGroup: 0, state: { name: 'total', kind, serializer }, count: rows.length, rows: out.toBytes() };
}

function read(section: KeyedSection, serializer: Serializer = defaultSerializer): Row[] {
  const rows: Row[] = [];
  readRows(section, serializer, {
    value: (key, value) => rows.push({ kind: 'value', key, value }),
    list: (key, values) => rows.push({ kind: 'list', key, values }),
    map: (key, mapKey, value) => rows.push({ kind: 'map', key, mapKey, value }),
  });
  return rows;
}

const normal = (key: Key): Key => (typeof key === 'object' ? key.map(normal) : key === 0 ? 0 : key);

describe.each<StateKind>(['value', 'list', 'map'])('rows of %s state', (kind) => {
  test('come back in their order', () => {
    fc.assert(
      fc.property(fc.array(anyRow(kind)), (rows) => {
        const expected = rows.map((row) => ({
          ...row,
          key: normal(row.key),
          ...(row.kind === 'map' && { mapKey: normal(row.mapKey) }),
        }));
        expect(read(sectionOf(kind, rows))).toEqual(expected);
      }),
    );
  });

  test('are refused, wherever they are cut short', () => {
    const rows = fc.sample(anyRow(kind), { numRuns: 3, seed: 7 });
    const section = sectionOf(kind, rows);
    for (let length = 0; length < section.rows.length; length++) {
      expect(() => read({ ...section, rows: section.rows.subarray(0, length) })).toThrow();
    }
  });

  test('are refused if there are more than were counted', () => {
    const section = sectionOf(kind, fc.sample(anyRow(kind), { numRuns: 3, seed: 7 }));
    expect(() => read({ ...section, count: 2 })).toThrow(/bytes left after 2 rows of 'total'/);
  });
});

test('what another serializer wrote is refused by name', () => {
  const section = sectionOf('value', [], { id: 'v8', version: 1 });
  expect(() => read(section)).toThrow(
    /^SERIALIZER_MISMATCH: state 'total' was stored by serializer 'v8' version 1, which 'msgpack' version 1 cannot read/,
  );
});

describe('what an older version wrote', () => {
  const rows: Row[] = [{ kind: 'value', key: 'a', value: 20 }];
  const section = sectionOf('value', rows);
  const newer: Serializer = { ...defaultSerializer, version: 2 };

  test('is migrated where there is a way', () => {
    const migrating: Serializer = { ...newer, migrate: (from, version) => [version, defaultSerializer.decode(from)] };
    expect(read(section, migrating)).toEqual([{ kind: 'value', key: 'a', value: [1, 20] }]);
  });

  test('is refused where there is none, as is what a newer version wrote', () => {
    const codes = [
      () => read(section, newer),
      () => read(sectionOf('value', rows, newer)),
      () => read(sectionOf('value', rows, newer), { ...defaultSerializer, migrate: () => 0 }),
    ].map((action) => {
      try {
        action();
        return 'read';
      } catch (error) {
        return isWeirError(error) && !error.recoverable && error.code;
      }
    });
    expect(codes).toEqual(['SERIALIZER_MISMATCH', 'SERIALIZER_MISMATCH', 'SERIALIZER_MISMATCH']);
  });
});
