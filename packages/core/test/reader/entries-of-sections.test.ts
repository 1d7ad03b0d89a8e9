import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StateKind } from '../../src/contracts/snapshot.js';
import type { KeyedSection, StateEntry } from '../../src/contracts/state-backend.js';
import { ByteWriter } from '../../src/element/bytes.js';
import { entriesOfSections } from '../../src/reader/entries-of-sections.js';
import {
  writeEntryRemoval,
  writeListChange,
  writeListGrowth,
  writeMapChange,
  writeRemoval,
  writeValueChange,
} from '../../src/state/changes.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { writeListRow, writeMapRow, writeValueRow } from '../../src/state/rows.js';

type Change =
  | { readonly do: 'put' | 'append'; readonly key: number; readonly content: readonly number[] }
  | { readonly do: 'remove'; readonly key: number }
  | { readonly do: 'remove entry'; readonly key: number; readonly mapKey: number };

const key = fc.nat({ max: 3 });
const content = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 });
const anyChange = (kind: StateKind): fc.Arbitrary<Change> =>
  fc.oneof<fc.Arbitrary<Change>[]>(
    fc.record({ do: fc.constant('put'), key, content }),
    fc.record({ do: fc.constant('remove'), key }),
    ...(kind === 'list' ? [fc.record({ do: fc.constant('append' as const), key, content })] : []),
    ...(kind === 'map' ? [fc.record({ do: fc.constant('remove entry' as const), key, mapKey: key })] : []),
  );

/** Value state is the first of the content, list state all of it; map state has each of it as key and value. */
type Model = Map<number, readonly number[]>;

function apply(kind: StateKind, model: Model, change: Change): void {
  const held = model.get(change.key) ?? [];
  switch (change.do) {
    case 'put':
      model.set(change.key, kind === 'map' ? [...new Set([...held, ...change.content])] : change.content);
      return;
    case 'append':
      model.set(change.key, [...held, ...change.content]);
      return;
    case 'remove':
      model.delete(change.key);
      return;
    case 'remove entry':
      model.set(
        change.key,
        held.filter((mapKey) => mapKey !== change.mapKey),
      );
  }
}

function write(kind: StateKind, change: Change, isChange: boolean, out: ByteWriter): number {
  if (change.do === 'remove') writeRemoval(out, change.key);
  else if (change.do === 'remove entry') writeEntryRemoval(out, change.key, change.mapKey);
  else if (kind === 'value') {
    (isChange ? writeValueChange : writeValueRow)(out, change.key, change.content[0], defaultSerializer);
  } else if (kind === 'list') {
    const put = isChange ? writeListChange : writeListRow;
    const grow = isChange ? writeListGrowth : writeListRow;
    (change.do === 'put' ? put : grow)(out, change.key, change.content, 0, change.content.length, defaultSerializer);
  } else {
    const each = isChange ? writeMapChange : writeMapRow;
    const mapKeys = new Set(change.content);
    for (const mapKey of mapKeys) each(out, change.key, mapKey, mapKey, defaultSerializer);
    return mapKeys.size;
  }
  return 1;
}

function section(kind: StateKind, changes: readonly Change[], isChange: boolean): KeyedSection {
  const out = new ByteWriter();
  let count = 0;
  for (const change of changes) count += write(kind, change, isChange, out);
  const state = { name: 'total', kind, serializer: { id: 'msgpack', version: 1 } };
  return { keyGroup: 0, state, count, rows: out.toBytes(), ...(isChange ? { isChange } : {}) };
}

function contentsOf(entries: Iterable<StateEntry>): Map<unknown, readonly unknown[]> {
  const found = new Map<unknown, readonly unknown[]>();
  for (const entry of entries) {
    switch (entry.kind) {
      case 'value':
        expect(found.has(entry.key)).toBe(false);
        found.set(entry.key, [entry.value]);
        break;
      case 'list':
        expect(found.has(entry.key)).toBe(false);
        found.set(entry.key, entry.values);
        break;
      case 'map':
        expect(entry.value).toBe(entry.mapKey);
        found.set(entry.key, [...(found.get(entry.key) ?? []), entry.mapKey]);
    }
  }
  return found;
}

test.each<StateKind>(['value', 'list', 'map'])('%s state is its rows and what has changed since, in order', (kind) => {
  const base = fc.uniqueArray(fc.record({ do: fc.constant('put' as const), key, content }), {
    selector: (row) => row.key,
  });
  fc.assert(
    fc.property(base, fc.array(fc.array(anyChange(kind), { maxLength: 6 }), { maxLength: 4 }), (rows, chain) => {
      const model: Model = new Map();
      for (const row of rows) apply(kind, model, row);
      for (const change of chain.flat()) apply(kind, model, change);
      const sections = [section(kind, rows, false), ...chain.map((changes) => section(kind, changes, true))];
      const expected = new Map(
        [...model]
          .filter(([, held]) => held.length > 0)
          .map(([at, held]) => [at, kind === 'value' ? held.slice(0, 1) : kind === 'map' ? [...new Set(held)] : held]),
      );
      const found = contentsOf(entriesOfSections(sections, defaultSerializer));
      const inOrder = (map: ReadonlyMap<unknown, readonly unknown[]>): unknown =>
        new Map([...map].map(([at, held]) => [at, kind === 'map' ? [...held].sort() : held]));
      expect(inOrder(found)).toEqual(inOrder(expected));
    }),
  );
});

test('a list that comes in pieces is one', () => {
  const pieces = [
    section('list', [{ do: 'put', key: 1, content: [1, 2] }], false),
    section('list', [{ do: 'put', key: 1, content: [3] }], false),
  ];
  expect([...entriesOfSections(pieces, defaultSerializer)]).toEqual([{ kind: 'list', key: 1, values: [1, 2, 3] }]);
});
