import {
  assertKey,
  keyIdentity,
  ownKey,
  writeListRow,
  writeMapRow,
  writeValueRow,
  type ByteWriter,
  type Key,
  type KeyIdentity,
  type ListState,
  type MapState,
  type RowVisitor,
  type StateDeclaration,
  type StateEntry,
  type StateHandle,
  type ValueState,
} from '@weir/core/contracts';
import { Rows } from './rows.js';

/** One declared state with all its keys. */
export interface ReferenceState {
  readonly declaration: StateDeclaration;
  readonly handle: StateHandle;
  /** Keys that hold something. */
  keys(): Iterable<Key>;
  /** Writes the rows of a key; returns their number. */
  encode(key: Key, out: ByteWriter): number;
  readonly restoring: RowVisitor;
  entries(): Iterable<StateEntry>;
}

export function referenceState(declaration: StateDeclaration, currentKey: () => Key): ReferenceState {
  switch (declaration.kind) {
    case 'value':
      return valueState(declaration, new Rows(currentKey));
    case 'list':
      return listState(declaration, new Rows(currentKey));
    case 'map':
      return mapState(declaration, new Rows(currentKey));
  }
}

/** Which rows a section holds was checked before; the others are never called. */
const NO_ROWS: RowVisitor = { value: () => undefined, list: () => undefined, map: () => undefined };

function valueState(declaration: StateDeclaration, rows: Rows<unknown>): ReferenceState {
  const { serializer, initial } = declaration;
  const handle: ValueState<unknown, unknown> = {
    value() {
      const row = rows.get();
      return row === undefined ? initial?.() : row.content;
    },
    update: (value) => {
      rows.set(value);
    },
    clear: () => {
      rows.delete();
    },
  };
  return {
    declaration,
    handle,
    keys: () => keysOf(rows),
    encode(key, out) {
      writeValueRow(out, key, rows.get(key)?.content, serializer);
      return 1;
    },
    restoring: {
      ...NO_ROWS,
      value: (key, value) => {
        rows.set(value, key);
      },
    },
    *entries() {
      for (const { key, content } of rows) yield { key, kind: 'value', value: content };
    },
  };
}

function listState(declaration: StateDeclaration, rows: Rows<unknown[]>): ReferenceState {
  const { serializer } = declaration;
  const handle: ListState<unknown> = {
    values: () => [...(rows.get()?.content ?? [])],
    add(value) {
      const row = rows.get();
      if (row === undefined) rows.set([value]);
      else row.content.push(value);
    },
    clear: () => {
      rows.delete();
    },
  };
  return {
    declaration,
    handle,
    keys: () => keysOf(rows),
    encode(key, out) {
      const values = rows.get(key)?.content ?? [];
      writeListRow(out, key, values, 0, values.length, serializer);
      return 1;
    },
    restoring: {
      ...NO_ROWS,
      list: (key, values) => {
        rows.set([...(rows.get(key)?.content ?? []), ...values], key);
      },
    },
    *entries() {
      for (const { key, content } of rows) yield { key, kind: 'list', values: [...content] };
    },
  };
}

type Entries = Map<KeyIdentity, readonly [Key, unknown]>;

function mapState(declaration: StateDeclaration, rows: Rows<Entries>): ReferenceState {
  const { name, serializer } = declaration;
  const put = (mapKey: Key, value: unknown, key?: Key): void => {
    const row = rows.get(key);
    const entries = row?.content ?? new Map<KeyIdentity, readonly [Key, unknown]>();
    entries.set(keyIdentity(mapKey), [ownKey(mapKey), value]);
    if (row === undefined) rows.set(entries, key);
  };
  const handle: MapState<Key, unknown> = {
    get: (mapKey) => rows.get()?.content.get(keyIdentity(mapKey))?.[1],
    set(mapKey, value) {
      assertKey(mapKey, `State '${name}'`);
      put(mapKey, value);
    },
    delete(mapKey) {
      const entries = rows.get()?.content;
      if (entries?.delete(keyIdentity(mapKey)) === true && entries.size === 0) rows.delete();
    },
    entries: () => rows.get()?.content.values() ?? [],
    clear() {
      // Whoever iterates over the entries sees no more of them.
      rows.get()?.content.clear();
      rows.delete();
    },
  };
  return {
    declaration,
    handle,
    keys: () => keysOf(rows),
    encode(key, out) {
      const entries = rows.get(key)?.content ?? new Map<never, never>();
      for (const [mapKey, value] of entries.values()) writeMapRow(out, key, mapKey, value, serializer);
      return entries.size;
    },
    restoring: {
      ...NO_ROWS,
      map: (key, mapKey, value) => {
        put(mapKey, value, key);
      },
    },
    *entries() {
      for (const { key, content } of rows)
        for (const [mapKey, value] of content.values()) yield { key, kind: 'map', mapKey, value };
    },
  };
}

function* keysOf(rows: Rows<unknown>): Iterable<Key> {
  for (const { key } of rows) yield key;
}
