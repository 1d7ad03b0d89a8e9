import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import {
  keyGroupOf,
  readRows,
  type Key,
  type KeyGroupRange,
  type KeyedSection,
  type KeyedStateStore,
} from '@weir/core/contracts';
import { MAX_PARALLELISM, declarationOf, type StateName } from './declarations.js';

/** What the states hold, by key in the spelling of {@link textOf}. Compared with `deepStrictEqual`, for which the order of keys does not matter. */
export interface Contents {
  readonly count: Map<string, unknown>;
  readonly last: Map<string, unknown>;
  readonly items: Map<string, unknown[]>;
  readonly index: Map<string, Map<string, unknown>>;
}

export function emptyContents(): Contents {
  return { count: new Map(), last: new Map(), items: new Map(), index: new Map() };
}

/** Different keys have different texts: 1, '1', 1n and [ 1 ] are. */
export function textOf(key: Key): string {
  return typeof key === 'number' ? String(key) : typeof key === 'string' ? `'${key}'` : inspect(key, { depth: null });
}

/** Keys of an earlier life of the store, which no test touches. */
export function bystander(i: number): string {
  return `bystander-${String(i)}`;
}

export function withoutBystanders(contents: Contents): Contents {
  for (const state of Object.values(contents) as Map<string, unknown>[]) {
    for (const key of state.keys()) if (key.startsWith("'bystander-")) state.delete(key);
  }
  return contents;
}

/** What the stores tell through `entries`, as copies. */
export function contentsOfStores(stores: readonly KeyedStateStore[]): Contents {
  const contents = emptyContents();
  for (const store of stores) {
    for (const name of ['count', 'last', 'items', 'index'] as const) {
      for (const entry of store.entries(name)) {
        const key = textOf(entry.key);
        const once = `${name} of ${key} is listed once`;
        switch (entry.kind) {
          case 'value':
            addOnce(contents[name], key, entry.value, once);
            break;
          case 'list':
            addOnce(contents.items, key, [...entry.values], once);
            break;
          case 'map':
            addOnce(mapAt(contents, key), textOf(entry.mapKey), entry.value, once);
        }
      }
    }
  }
  return structuredClone(contents);
}

/**
 * What the sections of one capture hold, decoded by the canonical format alone. Fails unless they are in the order of their key groups, say what
 * they are, and have each key in its group and each entry once.
 */
export function contentsOfSections(
  sections: readonly KeyedSection[],
  range: KeyGroupRange,
  contents: Contents = emptyContents(),
): Contents {
  let previous = range.first;
  for (const section of sections) {
    const { keyGroup, state } = section;
    assert(keyGroup >= previous, `key group ${String(keyGroup)} comes after ${String(previous)}`);
    assert(keyGroup <= range.last, `key group ${String(keyGroup)} is in the range of the store`);
    previous = keyGroup;
    const { name, kind, serializer } = declarationOf(state.name);
    assert.deepEqual(
      { kind: state.kind, serializer: { ...state.serializer } },
      { kind, serializer: { id: serializer.id, version: serializer.version } },
      `what a section says about state ${name}`,
    );
    assert(section.count > 0, 'a section has rows');
    addRows(section, contents);
  }
  return contents;
}

function addRows(section: KeyedSection, contents: Contents): void {
  const name = section.state.name as StateName;
  const keyOf = (key: Key): string => {
    assert.equal(section.keyGroup, keyGroupOf(key, MAX_PARALLELISM), `the key group of ${textOf(key)}`);
    return textOf(key);
  };
  readRows(section, declarationOf(name).serializer, {
    value(key, value) {
      addOnce(contents[name], keyOf(key), value, `${name} of ${textOf(key)} is written once`);
    },
    list(key, values) {
      const items = contents.items.get(keyOf(key)) ?? [];
      contents.items.set(textOf(key), [...items, ...values]);
    },
    map(key, mapKey, value) {
      const once = `entry ${textOf(mapKey)} of ${textOf(key)} is written once`;
      addOnce(mapAt(contents, keyOf(key)), textOf(mapKey), value, once);
    },
  });
}

function addOnce(map: Map<string, unknown>, key: string, value: unknown, once: string): void {
  assert(!map.has(key), once);
  map.set(key, value);
}

function mapAt({ index }: Contents, key: string): Map<string, unknown> {
  const entries = index.get(key) ?? new Map<string, unknown>();
  index.set(key, entries);
  return entries;
}
