import {
  ByteWriter,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateOutput,
  type Slice,
  type StateDeclaration,
} from '@weir/core/contracts';
import { keysIn, placeOf } from './row-keys.js';
import type { Table, TableEntry } from './table.js';

/** Sections are given away at this size; a list that is longer is one all the same. */
const SECTION_BYTES = 64 * 1024;

/** The state at this moment. It costs nothing to take, as a reader of LMDB goes on seeing the state in which it began. */
export function captureOf(table: Table, states: readonly StateDeclaration[]): KeyedCapture {
  const snapshot = table.snapshot();
  return {
    async write(out, slice) {
      const writer = new SectionWriter(states, out, slice);
      for (const entry of snapshot.entries()) {
        const taken = writer.add(entry);
        if (taken !== undefined) await taken;
      }
      await writer.finish();
    },
    release: snapshot.release,
  };
}

/** Makes sections of entries that come in the order of their bytes, which is that of key groups. What serializers wrote is not touched. */
class SectionWriter {
  readonly #states: readonly StateDeclaration[];
  readonly #out: KeyedStateOutput;
  readonly #slice: Slice;
  #rows = new ByteWriter(SECTION_BYTES);
  #place: { readonly keyGroup: number; readonly state: number } | undefined;
  #count = 0;
  /** Elements of the list that are still to come. */
  #elements = 0;

  constructor(states: readonly StateDeclaration[], out: KeyedStateOutput, slice: Slice) {
    this.#states = states;
    this.#out = out;
    this.#slice = slice;
  }

  /** A promise: wait for it before the next. */
  add(entry: TableEntry): Promise<void> | undefined {
    const place = placeOf(entry.key);
    const isNext = place.keyGroup !== this.#place?.keyGroup || place.state !== this.#place.state;
    if (isNext || (this.#elements === 0 && this.#rows.length >= SECTION_BYTES)) {
      return this.finish().then(() => {
        this.#place = place;
        this.#append(entry, place.state);
      });
    }
    this.#append(entry, place.state);
    return undefined;
  }

  /** What was added since the last section becomes one. */
  async finish(): Promise<void> {
    if (this.#place === undefined || this.#count === 0) return;
    const { name, kind, serializer } = this.#states[this.#place.state] as StateDeclaration;
    const section: KeyedSection = {
      keyGroup: this.#place.keyGroup,
      state: { name, kind, serializer: { id: serializer.id, version: serializer.version } },
      count: this.#count,
      rows: this.#rows.view(),
    };
    this.#count = 0;
    await this.#out.section(section);
    this.#rows.reset();
    if (this.#slice.isOver()) await this.#slice.next();
  }

  #append({ key, value }: TableEntry, state: number): void {
    if (this.#elements > 0) {
      this.#elements--;
      this.#rows.bytes(value);
      return;
    }
    this.#rows.bytes(keysIn(key));
    this.#count++;
    if (this.#states[state]?.kind === 'list') {
      this.#elements = value.readUInt32BE(0);
      this.#rows.varint(this.#elements);
    } else this.#rows.bytes(value);
  }
}
