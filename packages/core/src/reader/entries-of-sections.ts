import type { Serializer } from '../contracts/serializer.js';
import type { KeyedSection, StateEntry } from '../contracts/state-backend.js';
import { keyIdentity, type KeyIdentity } from '../element/key-identity.js';
import type { Key } from '../element/key.js';
import { readChanges, type ChangeVisitor } from '../state/changes.js';
import { readRows, type RowVisitor } from '../state/rows.js';

/**
 * The entries of one state in one key group. `sections` are all it has there, in the order in which they were stored. Rows that nothing adds to or
 * changes are given section by section; lists, which may come in pieces, and whatever has changed are first put together in memory.
 */
export function* entriesOfSections(
  sections: readonly KeyedSection[],
  serializer: Serializer,
): Generator<StateEntry, void, undefined> {
  if (sections.some(({ state, isChange }) => state.kind === 'list' || isChange === true)) {
    const merged = new MergedEntries();
    for (const section of sections) {
      if (section.isChange === true) readChanges(section, serializer, merged.changes);
      else readRows(section, serializer, merged);
    }
    yield* merged.entries();
    return;
  }
  for (const section of sections) {
    const entries: StateEntry[] = [];
    readRows(section, serializer, {
      value: (key, value) => entries.push({ kind: 'value', key, value }),
      list: (key, values) => entries.push({ kind: 'list', key, values }),
      map: (key, mapKey, value) => entries.push({ kind: 'map', key, mapKey, value }),
    });
    yield* entries;
  }
}

type Held =
  | { readonly kind: 'value'; readonly key: Key; readonly value: unknown }
  | { readonly kind: 'list'; readonly key: Key; readonly values: unknown[] }
  | { readonly kind: 'map'; readonly key: Key; readonly entries: Map<KeyIdentity, readonly [Key, unknown]> };

/** Rows as they add up, each key once. */
class MergedEntries implements RowVisitor {
  readonly #held = new Map<KeyIdentity, Held>();

  value(key: Key, value: unknown): void {
    this.#held.set(keyIdentity(key), { kind: 'value', key, value });
  }

  list(key: Key, values: unknown[]): void {
    const held = this.#held.get(keyIdentity(key));
    if (held?.kind === 'list') for (const value of values) held.values.push(value);
    else this.#held.set(keyIdentity(key), { kind: 'list', key, values });
  }

  map(key: Key, mapKey: Key, value: unknown): void {
    const held = this.#held.get(keyIdentity(key));
    const entries = held?.kind === 'map' ? held.entries : new Map<KeyIdentity, readonly [Key, unknown]>();
    if (held?.kind !== 'map') this.#held.set(keyIdentity(key), { kind: 'map', key, entries });
    entries.set(keyIdentity(mapKey), [mapKey, value]);
  }

  /** What is put comes as a row would, but takes the place of the list that was there. */
  readonly changes: ChangeVisitor = {
    value: (key, value) => {
      this.value(key, value);
    },
    list: (key, values) => {
      this.#held.set(keyIdentity(key), { kind: 'list', key, values });
    },
    map: (key, mapKey, value) => {
      this.map(key, mapKey, value);
    },
    append: (key, values) => {
      this.list(key, values);
    },
    remove: (key) => {
      this.#held.delete(keyIdentity(key));
    },
    removeEntry: (key, mapKey) => {
      const held = this.#held.get(keyIdentity(key));
      if (held?.kind === 'map') held.entries.delete(keyIdentity(mapKey));
    },
  };

  *entries(): Generator<StateEntry, void, undefined> {
    for (const held of this.#held.values()) {
      if (held.kind !== 'map') yield held;
      else for (const [mapKey, value] of held.entries.values()) yield { kind: 'map', key: held.key, mapKey, value };
    }
  }
}
