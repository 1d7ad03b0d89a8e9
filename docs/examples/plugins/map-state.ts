import {
  assertKey,
  ByteWriter,
  closedStore,
  keyGroupOf,
  keyIdentity,
  noCurrentKey,
  ownedGroup,
  ownKey,
  readChanges,
  readRows,
  unknownState,
  WeirError,
  writeListRow,
  writeMapRow,
  writeValueRow,
  type Key,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateStore,
  type KeyIdentity,
  type ListState,
  type MapState,
  type RowVisitor,
  type StateBackend,
  type StateDeclaration,
  type StateEntry,
  type StateHandle,
  type StateScope,
  type ValueState,
} from '@weir/core/contracts';

type MapEntries = Map<KeyIdentity, readonly [Key, unknown]>;
/** Of a value state the value, of a list state an array, of a map state its entries. */
interface Row {
  readonly key: Key;
  content: unknown;
}
type Table = Map<KeyIdentity, Row>;

/** Keyed state in Maps. Right, but too simple for large state: a capture encodes everything at once. */
export const mapState: StateBackend = {
  type: 'map',
  capabilities: { keepsIdentity: true },
  open: (scope) => new MapStateStore(scope),
};

class MapStateStore implements KeyedStateStore {
  readonly #scope: StateScope;
  readonly #tables = new Map<string, Table>();
  readonly #handles = new Map<string, StateHandle>();
  #key: Key | undefined;
  #isClosed = false;

  constructor(scope: StateScope) {
    this.#scope = scope;
    for (const state of scope.states) {
      const table: Table = new Map();
      this.#tables.set(state.name, table);
      this.#handles.set(
        state.name,
        handleOf(state, table, () => this.#currentKey()),
      );
    }
  }

  setCurrentKey(key: Key): void {
    this.#assertOpen();
    ownedGroup(key, this.#scope);
    this.#key = key;
  }

  handle(name: string): StateHandle {
    return this.#declared(name, this.#handles);
  }

  /** Encoding now is the simplest way to be out of reach of everything that happens later. */
  capture(): KeyedCapture {
    this.#assertOpen();
    const { states, maxParallelism } = this.#scope;
    let sections: KeyedSection[] = [];
    let failure: { readonly error: unknown } | undefined;
    try {
      sections = states.flatMap((state) => sectionsOf(state, this.#declared(state.name, this.#tables), maxParallelism));
      sections.sort((a, b) => a.keyGroup - b.keyGroup);
    } catch (error) {
      // A value that cannot be encoded fails this capture, and not the job.
      failure = { error };
    }
    return {
      async write(out, slice) {
        if (failure !== undefined) throw failure.error;
        for (const section of sections) {
          await out.section(section);
          if (slice.isOver()) await slice.next();
        }
      },
      release() {
        sections = [];
      },
    };
  }

  restore(section: KeyedSection): void {
    const { name, kind } = section.state;
    const table = this.#declared(name, this.#tables);
    const state = this.#scope.states.find((declared) => declared.name === name);
    if (state?.kind !== kind) {
      throw new WeirError('CHECKPOINT_INCOMPATIBLE', `State '${name}' was stored as a ${kind} state.`, {
        recoverable: false,
      });
    }
    const rows: RowVisitor = {
      value: (key, value) => void (rowOf(table, key).content = value),
      list: (key, values) => {
        // Rows add up: a long list may come in several.
        const row = rowOf(table, key);
        row.content = [...((row.content as unknown[] | undefined) ?? []), ...values];
      },
      map: (key, mapKey, value) => {
        const row = rowOf(table, key);
        ((row.content ??= new Map()) as MapEntries).set(keyIdentity(mapKey), [mapKey, value]);
      },
    };
    if (section.isChange !== true) {
      readRows(section, state.serializer, rows);
      return;
    }
    readChanges(section, state.serializer, {
      ...rows,
      append: (key, values) => {
        rows.list(key, values);
      },
      list: (key, values) => void (rowOf(table, key).content = values),
      remove: (key) => void table.delete(keyIdentity(key)),
      removeEntry: (key, mapKey) => {
        (table.get(keyIdentity(key))?.content as MapEntries | undefined)?.delete(keyIdentity(mapKey));
      },
    });
  }

  isOverBudget(): boolean {
    return false;
  }

  *entries(name: string): Iterable<StateEntry> {
    const kind = this.#scope.states.find((state) => state.name === name)?.kind;
    for (const { key, content } of this.#declared(name, this.#tables).values()) {
      if (kind === 'list') yield { key, kind, values: [...(content as unknown[])] };
      else if (kind === 'map') {
        for (const [mapKey, value] of (content as MapEntries).values()) yield { key, kind, mapKey, value };
      } else yield { key, kind: 'value', value: content };
    }
  }

  completed(): void {
    // No capture stands on another one.
  }
  aborted(): void {
    // The same.
  }
  close(): void {
    this.#isClosed = true;
    this.#tables.clear();
  }

  #currentKey(): Key {
    this.#assertOpen();
    if (this.#key !== undefined) return this.#key;
    throw noCurrentKey(this.#scope.operator);
  }
  #declared<V>(name: string, among: ReadonlyMap<string, V>): V {
    this.#assertOpen();
    const found = among.get(name);
    if (found !== undefined) return found;
    throw unknownState(this.#scope.operator, name, among.keys());
  }
  #assertOpen(): void {
    if (this.#isClosed) throw closedStore(this.#scope.operator);
  }
}

function rowOf(table: Table, key: Key): Row {
  const row = table.get(keyIdentity(key)) ?? { key: ownKey(key), content: undefined };
  table.set(keyIdentity(key), row);
  return row;
}

function handleOf(state: StateDeclaration, table: Table, currentKey: () => Key): StateHandle {
  const find = (): Row | undefined => table.get(keyIdentity(currentKey()));
  const clear = (): void => void table.delete(keyIdentity(currentKey()));
  switch (state.kind) {
    case 'value': {
      const handle: ValueState<unknown> = {
        value() {
          const row = find();
          return row === undefined ? state.initial?.() : row.content;
        },
        update: (value) => void (rowOf(table, currentKey()).content = value),
        clear,
      };
      return handle;
    }
    case 'list': {
      const handle: ListState<unknown> = {
        values: () => [...((find()?.content as unknown[] | undefined) ?? [])],
        add: (value) => void ((rowOf(table, currentKey()).content ??= []) as unknown[]).push(value),
        clear,
      };
      return handle;
    }
    case 'map': {
      const entries = (): MapEntries | undefined => find()?.content as MapEntries | undefined;
      const handle: MapState<Key, unknown> = {
        get: (mapKey) => entries()?.get(keyIdentity(mapKey))?.[1],
        set(mapKey, value) {
          assertKey(mapKey, `State '${state.name}'`);
          const row = rowOf(table, currentKey());
          ((row.content ??= new Map()) as MapEntries).set(keyIdentity(mapKey), [ownKey(mapKey), value]);
        },
        delete(mapKey) {
          if (entries()?.delete(keyIdentity(mapKey)) === true && entries()?.size === 0) clear();
        },
        entries: () => [...(entries()?.values() ?? [])],
        clear,
      };
      return handle;
    }
  }
}

/** The rows of one state, a section per key group. */
function sectionsOf(state: StateDeclaration, table: Table, maxParallelism: number): KeyedSection[] {
  const { name, kind, serializer } = state;
  const meta = { name, kind, serializer: { id: serializer.id, version: serializer.version } };
  const groups = new Map<number, { readonly out: ByteWriter; count: number }>();
  for (const { key, content } of table.values()) {
    const keyGroup = keyGroupOf(key, maxParallelism);
    const group = groups.get(keyGroup) ?? { out: new ByteWriter(), count: 0 };
    groups.set(keyGroup, group);
    if (kind === 'map') {
      for (const [mapKey, value] of (content as MapEntries).values()) {
        writeMapRow(group.out, key, mapKey, value, serializer);
        group.count++;
      }
    } else {
      if (kind === 'value') writeValueRow(group.out, key, content, serializer);
      else writeListRow(group.out, key, content as unknown[], 0, (content as unknown[]).length, serializer);
      group.count++;
    }
  }
  return [...groups].map(([keyGroup, { out, count }]) => ({ keyGroup, state: meta, count, rows: out.toBytes() }));
}
