import type {
  CaptureRequest,
  KeyedCapture,
  KeyedSection,
  KeyedStateOutput,
  KeyedStateStore,
  Slice,
  StateBackend,
  StateEntry,
  StateHandle,
  StateScope,
  ValueState,
} from '../../src/contracts/state-backend.js';
import { ByteWriter } from '../../src/element/bytes.js';
import { keyGroupOf } from '../../src/element/key-group.js';
import { keyIdentity, type KeyIdentity } from '../../src/element/key-identity.js';
import type { Key } from '../../src/element/key.js';
import { readRows, writeValueRow } from '../../src/state/rows.js';

/** The smallest honest backend: value states in maps, captured by encoding everything at once. */
export const valueStateBackend: StateBackend = {
  type: 'values',
  capabilities: { keepsIdentity: true },
  open: (scope) => new ValueStateStore(scope),
};

interface Entry {
  readonly key: Key;
  readonly value: unknown;
}

class ValueStateStore implements KeyedStateStore {
  readonly #scope: StateScope;
  readonly #tables = new Map<string, Map<KeyIdentity, Entry>>();
  readonly #handles = new Map<string, ValueState<unknown>>();
  #key: Key = '';

  constructor(scope: StateScope) {
    this.#scope = scope;
    for (const { name, initial } of scope.states) {
      const table = new Map<KeyIdentity, Entry>();
      this.#tables.set(name, table);
      this.#handles.set(name, {
        value: () => table.get(keyIdentity(this.#key))?.value ?? initial?.(),
        update: (value) => table.set(keyIdentity(this.#key), { key: this.#key, value }),
        clear: () => table.delete(keyIdentity(this.#key)),
      });
    }
  }

  setCurrentKey(key: Key): void {
    this.#key = key;
  }
  handle(name: string): StateHandle {
    return this.#handles.get(name) as StateHandle;
  }
  capture(_request: CaptureRequest): KeyedCapture {
    const sections: KeyedSection[] = [];
    const { keyGroups, maxParallelism, states } = this.#scope;
    for (let keyGroup = keyGroups.first; keyGroup <= keyGroups.last; keyGroup++) {
      for (const { name, kind, serializer } of states) {
        const rows = new ByteWriter();
        const entries = this.#of(name).filter(({ key }) => keyGroupOf(key, maxParallelism) === keyGroup);
        for (const { key, value } of entries) writeValueRow(rows, key, value, serializer);
        const state = { name, kind, serializer: { id: serializer.id, version: serializer.version } };
        if (entries.length > 0) sections.push({ keyGroup, state, count: entries.length, rows: rows.toBytes() });
      }
    }
    return {
      async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
        for (const section of sections) {
          if (slice.isOver()) await slice.next();
          await out.section(section);
        }
      },
      release: () => undefined,
    };
  }
  restore(section: KeyedSection): void {
    const { name } = section.state;
    const serializer = this.#scope.states.find((state) => state.name === name)!.serializer;
    const unexpected = (): never => {
      throw new Error('this backend has value states only');
    };
    readRows(section, serializer, {
      value: (key, value) => this.#tables.get(name)?.set(keyIdentity(key), { key, value }),
      list: unexpected,
      map: unexpected,
    });
  }
  isOverBudget(): boolean {
    return false;
  }
  *entries(name: string): Iterable<StateEntry> {
    for (const { key, value } of this.#of(name)) yield { key, kind: 'value', value };
  }
  completed(): void {}
  aborted(): void {}
  close(): void {}

  #of(name: string): readonly Entry[] {
    return [...(this.#tables.get(name)?.values() ?? [])];
  }
}
