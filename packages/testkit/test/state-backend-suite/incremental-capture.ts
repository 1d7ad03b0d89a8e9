import {
  ByteWriter,
  keyGroupOf,
  keyIdentity,
  writeEntryRemoval,
  writeListChange,
  writeMapChange,
  writeRemoval,
  writeValueChange,
  type Key,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateHandle,
  type KeyedStateOutput,
  type KeyedStateStore,
  type Slice,
  type StateDeclaration,
  type StateEntry,
  type StateScope,
} from '@weir/core/contracts';

/** What a state held, by the identities of its entries. */
export type Held = ReadonlyMap<string, StateEntry>;
/** What lies in storage of the states of a store, by their names. */
export interface Stored {
  readonly held: ReadonlyMap<string, Held>;
  readonly handles: readonly KeyedStateHandle[];
}

/** Everything that a store holds, as copies. */
export function heldBy(store: KeyedStateStore, scope: StateScope): ReadonlyMap<string, Held> {
  return new Map(
    scope.states.map(({ name }) => {
      const entries = structuredClone([...store.entries(name)]);
      return [name, new Map(entries.map((entry) => [identityOf(entry), entry]))];
    }),
  );
}

/** Compares all that there is with all that was there: simple, and as slow as a full capture. */
export class IncrementalCapture implements KeyedCapture {
  readonly sections = 'changes';
  readonly #scope: StateScope;
  readonly #held: ReadonlyMap<string, Held>;
  readonly #base: Stored;
  readonly #saysRemovals: boolean;
  readonly #onWritten: (stored: Stored) => void;

  constructor(
    scope: StateScope,
    held: ReadonlyMap<string, Held>,
    base: Stored,
    saysRemovals: boolean,
    onWritten: (stored: Stored) => void,
  ) {
    this.#scope = scope;
    this.#held = held;
    this.#base = base;
    this.#saysRemovals = saysRemovals;
    this.#onWritten = onWritten;
  }

  async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
    for (const handle of this.#base.handles) out.incremental?.add(handle);
    const sections = this.#scope.states.flatMap((state) => this.#changes(state));
    for (const section of sections.sort((a, b) => a.keyGroup - b.keyGroup)) {
      await out.section(section);
      if (slice.isOver()) await slice.next();
    }
  }
  written(handles: readonly KeyedStateHandle[]): void {
    this.#onWritten({ held: this.#held, handles });
  }
  release(): void {
    // It holds copies.
  }

  #changes(state: StateDeclaration): KeyedSection[] {
    const [before, now] = [this.#base.held.get(state.name) ?? NONE, this.#held.get(state.name) ?? NONE];
    const groups = new Map<number, { readonly out: ByteWriter; count: number }>();
    const change = (key: Key, write: (out: ByteWriter) => void): void => {
      const keyGroup = keyGroupOf(key, this.#scope.maxParallelism);
      const group = groups.get(keyGroup) ?? { out: new ByteWriter(), count: 0 };
      groups.set(keyGroup, group);
      group.count++;
      write(group.out);
    };
    for (const [identity, entry] of before) {
      if (this.#saysRemovals && !now.has(identity))
        change(entry.key, (out) => {
          writeGone(entry, out);
        });
    }
    for (const [identity, entry] of now) {
      if (!isSame(before.get(identity), entry, state))
        change(entry.key, (out) => {
          writePut(entry, out, state);
        });
    }
    const { name, kind, serializer } = state;
    const meta = { name, kind, serializer: { id: serializer.id, version: serializer.version } };
    return [...groups].map(([keyGroup, { out, count }]) => ({
      keyGroup,
      state: meta,
      count,
      rows: out.toBytes(),
      isChange: true,
    }));
  }
}

const NONE: Held = new Map();

function identityOf(entry: StateEntry): string {
  return JSON.stringify(
    [entry.key, entry.kind === 'map' ? entry.mapKey : 0].map((key) => [typeof key, String(keyIdentity(key))]),
  );
}

function writePut(entry: StateEntry, out: ByteWriter, { serializer }: StateDeclaration): void {
  switch (entry.kind) {
    case 'value':
      writeValueChange(out, entry.key, entry.value, serializer);
      break;
    case 'list':
      writeListChange(out, entry.key, entry.values, 0, entry.values.length, serializer);
      break;
    case 'map':
      writeMapChange(out, entry.key, entry.mapKey, entry.value, serializer);
  }
}

function writeGone(entry: StateEntry, out: ByteWriter): void {
  if (entry.kind === 'map') writeEntryRemoval(out, entry.key, entry.mapKey);
  else writeRemoval(out, entry.key);
}

function isSame(before: StateEntry | undefined, now: StateEntry, state: StateDeclaration): boolean {
  if (before === undefined) return false;
  const [a, b] = [before, now].map((entry) => {
    const out = new ByteWriter();
    writePut(entry, out, state);
    return out.toBytes();
  }) as [Uint8Array, Uint8Array];
  return Buffer.compare(a, b) === 0;
}
