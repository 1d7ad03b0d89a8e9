import {
  assertKey,
  ByteReader,
  ByteWriter,
  type Key,
  type ListState,
  type MapState,
  type StateDeclaration,
  type StateHandle,
  type ValueState,
} from '@weir/core/contracts';
import { listRowKey, mapKeyIn, mapRowKey } from './row-keys.js';
import type { Table } from './table.js';

/** The handle of a state; `rowOf` gives the row of the key that is current. */
export function handleOf(state: StateDeclaration, table: Table, rowOf: () => Buffer): StateHandle {
  switch (state.kind) {
    case 'value':
      return valueHandle(state, table, rowOf);
    case 'list':
      return listHandle(state, table, rowOf);
    case 'map':
      return mapHandle(state, table, rowOf);
  }
}

function valueHandle(state: StateDeclaration, table: Table, rowOf: () => Buffer): ValueState<unknown> {
  return {
    value() {
      const bytes = table.get(rowOf());
      return bytes === undefined ? state.initial?.() : decoded(state, bytes);
    },
    update(value) {
      table.put(rowOf(), encoded(state, value));
    },
    clear() {
      table.put(rowOf(), undefined);
    },
  };
}

/** The row of the key says how many elements there are; each has a row behind it. */
function listHandle(state: StateDeclaration, table: Table, rowOf: () => Buffer): ListState<unknown> {
  return {
    values() {
      const row = rowOf();
      return Array.from({ length: lengthOf(table, row) }, (_, i) =>
        decoded(state, table.get(listRowKey(row, i)) as Buffer),
      );
    },
    add(value) {
      const row = rowOf();
      const length = lengthOf(table, row);
      table.put(listRowKey(row, length), encoded(state, value));
      table.put(row, counted(length + 1));
    },
    clear() {
      const row = rowOf();
      for (let i = lengthOf(table, row) - 1; i >= 0; i--) table.put(listRowKey(row, i), undefined);
      table.put(row, undefined);
    },
  };
}

function mapHandle(state: StateDeclaration, table: Table, rowOf: () => Buffer): MapState<Key, unknown> {
  const at = (mapKey: Key): Buffer => {
    assertKey(mapKey, `State '${state.name}'`);
    return mapRowKey(rowOf(), mapKey);
  };
  return {
    get(mapKey) {
      const bytes = table.get(at(mapKey));
      return bytes === undefined ? undefined : decoded(state, bytes);
    },
    set(mapKey, value) {
      table.put(at(mapKey), encoded(state, value));
    },
    delete(mapKey) {
      table.put(at(mapKey), undefined);
    },
    entries: () => [...table.below(rowOf())].map(({ key, value }) => [mapKeyIn(key), decoded(state, value)] as const),
    clear() {
      for (const { key } of [...table.below(rowOf())]) table.put(key, undefined);
    },
  };
}

export function decoded({ serializer }: StateDeclaration, bytes: Buffer): unknown {
  return serializer.decode(new ByteReader(bytes));
}

/** Used by one call at a time. */
const out = new ByteWriter();

function encoded({ serializer }: StateDeclaration, value: unknown): Buffer {
  out.reset();
  serializer.encode(value, out);
  return Buffer.from(out.view());
}

export function lengthOf(table: Table, row: Buffer): number {
  return table.get(row)?.readUInt32BE(0) ?? 0;
}

function counted(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(length);
  return bytes;
}
