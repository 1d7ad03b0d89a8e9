import {
  ByteWriter,
  keyGroupOf,
  keyIdentity,
  writeListRow,
  writeMapRow,
  writeValueRow,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateOutput,
  type KeyedStateStore,
  type Slice,
  type StateDeclaration,
  type StateEntry,
  type StateScope,
} from '@weir/core/contracts';
import type { Has } from './flaw.js';

/** Remembers entries at the moment of the capture and encodes them when it is written: right only where nothing changes in between. */
export class FlawedCapture implements KeyedCapture {
  readonly #store: KeyedStateStore;
  readonly #scope: StateScope;
  readonly #has: Has;
  readonly #releaseAll: () => void;
  #entries: ReadonlyMap<StateDeclaration, readonly StateEntry[]> | undefined;

  constructor(store: KeyedStateStore, scope: StateScope, has: Has, releaseAll: () => void) {
    this.#store = store;
    this.#scope = scope;
    this.#has = has;
    this.#releaseAll = releaseAll;
    this.#entries = new Map(scope.states.map((state) => [state, this.#read(state)]));
  }

  async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
    const sections = this.#sections();
    for (const section of sections) {
      const taken = out.section(section);
      if (this.#has('overwrites what is not taken yet')) section.rows.fill(0);
      if (!this.#has('does not wait until a section is taken')) await taken;
      if (!slice.isOver() || this.#has('never pauses')) continue;
      if (this.#has('does not stop when given up')) await slice.next().catch(() => undefined);
      else await slice.next();
    }
  }
  release(): void {
    if (this.#has('releases all captures at once')) this.#releaseAll();
    this.forget();
  }
  forget(): void {
    this.#entries = undefined;
  }

  #sections(): KeyedSection[] {
    const sections = [...(this.#entries ?? [])].flatMap(([state, entries]) =>
      encode(state, this.#asChanged(state, entries), this.#scope.maxParallelism),
    );
    sections.sort((a, b) =>
      this.#has('writes groups in any order') ? b.keyGroup - a.keyGroup : a.keyGroup - b.keyGroup,
    );
    return sections;
  }

  #read({ name }: StateDeclaration): StateEntry[] {
    const entries = [...this.#store.entries(name)];
    if (this.#has('shares objects with the state') || this.#has('fails the record')) return entries;
    const kept = structuredClone(entries);
    return this.#has('loses entries of maps')
      ? kept.filter((entry) => entry.kind !== 'map' || entry.mapKey !== 3)
      : kept;
  }

  /** What changes of the state since the capture come through. */
  #asChanged({ name, kind }: StateDeclaration, entries: readonly StateEntry[]): readonly StateEntry[] {
    const now = [...this.#store.entries(name)];
    const [before, after] = [new Set(entries.map(identity)), new Set(now.map(identity))];
    if (this.#has('reads the state when it writes')) return now;
    if (this.#has('shares lists with the state') && kind === 'list')
      return now.filter((entry) => before.has(identity(entry)));
    if (this.#has('forgets what was cleared')) return entries.filter((entry) => after.has(identity(entry)));
    if (this.#has('finds keys that came later'))
      return [...entries, ...now.filter((entry) => !before.has(identity(entry)))];
    return entries;
  }
}

function identity(entry: StateEntry): string {
  return JSON.stringify([entry.key, entry.kind === 'map' ? entry.mapKey : 0].map((key) => String(keyIdentity(key))));
}

function encode(state: StateDeclaration, entries: readonly StateEntry[], maxParallelism: number): KeyedSection[] {
  const { name, kind, serializer } = state;
  const groups = new Map<number, { readonly out: ByteWriter; count: number }>();
  for (const entry of entries) {
    const keyGroup = keyGroupOf(entry.key, maxParallelism);
    const group = groups.get(keyGroup) ?? { out: new ByteWriter(), count: 0 };
    groups.set(keyGroup, group);
    group.count++;
    switch (entry.kind) {
      case 'value':
        writeValueRow(group.out, entry.key, entry.value, serializer);
        break;
      case 'list':
        writeListRow(group.out, entry.key, entry.values, 0, entry.values.length, serializer);
        break;
      case 'map':
        writeMapRow(group.out, entry.key, entry.mapKey, entry.value, serializer);
    }
  }
  const meta = { name, kind, serializer: { id: serializer.id, version: serializer.version } };
  return [...groups].map(([keyGroup, { out, count }]) => ({ keyGroup, state: meta, count, rows: out.toBytes() }));
}
