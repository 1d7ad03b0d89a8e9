import { ByteReader, decodeKeyBlock, keyIdentity, readRows } from '@weir/core/contracts';
import type {
  Key,
  KeyGroup,
  KeyedSection,
  ListState,
  Serializer,
  StateDeclaration,
  StateEntry,
  StateMeta,
} from '@weir/core/contracts';
import type { PackedBatch } from '../cache/packed-batch.js';
import { STATE_PREFIX_BYTES, keyPrefix, statePrefix, writeKeyPrefix, writeSequence } from '../row-keys.js';
import { KeyIndex } from './key-index.js';
import { placeOfCurrentKey } from './key-place.js';
import { ListCell } from './list-cell.js';
import type { ListOwner } from './list-cell.js';
import { ListHandle } from './list-handle.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { UNVISITED } from './unvisited.js';
import { ValueSizes, isMutable } from './value-sizes.js';

/** Elements of one row at the most. */
const ROW_ELEMENTS = 128;
/** A short list in so many rows, which has grown a little at a time, is written anew as one. */
const SCATTERED_ROWS = 16;
const SHORT_LIST = 1024;

/** All lists of one list state: some elements make a row, and what is appended is a new row that is written without reading the others. */
export class StoredLists implements StoredState, ListOwner {
  readonly meta: StateMeta;
  readonly handle: ListState<unknown>;
  id: number;
  readonly cells: KeyIndex<ListCell> = new KeyIndex<ListCell>();
  readonly sizes: ValueSizes = new ValueSizes();
  readonly #serializer: Serializer;
  readonly #parts: StoreParts;

  constructor(declaration: StateDeclaration, id: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.id = id;
    this.#parts = parts;
    this.handle = new ListHandle(this, parts);
  }

  /** A cell that was not there, for the current key. */
  create(): ListCell {
    const { key, group } = placeOfCurrentKey(this.#parts);
    return this.#add(key, group);
  }
  #add(key: Key, group: KeyGroup): ListCell {
    const { clock, rows } = this.#parts;
    const cell = new ListCell(this, key, group, rows.sequence);
    clock.add(cell, 64);
    this.cells.set(keyIdentity(key), cell);
    return cell;
  }

  /** Reads what is not in memory. */
  complete(cell: ListCell): void {
    const values: unknown[] = [];
    const numbers: number[] = [];
    let bytes = 0;
    for (const { number, value } of this.#stored(cell)) {
      numbers.push(number);
      bytes += value.length;
      this.#decodeInto(values, value);
    }
    cell.hasMutable ||= values.some((value) => isMutable(value));
    cell.written += values.length;
    cell.values = values.length === 0 ? cell.values : values.concat(cell.values);
    cell.rows = [...numbers, ...cell.rows];
    cell.isWhole = true;
    this.#resize(cell, cell.valueBytes + bytes);
  }
  /** Empties the list. */
  empty(cell: ListCell): void {
    if (!cell.isWhole) cell.rows = [...Array.from(this.#stored(cell), ({ number }) => number), ...cell.rows];
    cell.values = [];
    cell.written = 0;
    cell.isWhole = true;
    cell.isReplaced = true;
    cell.hasMutable = false;
    this.#resize(cell, 0);
  }
  /** The rows that are there without the cell. */
  *#stored(cell: ListCell): Generator<{ readonly number: number; readonly value: Uint8Array }> {
    const prefix = keyPrefix(cell.group, this.id, cell.key);
    for (const row of this.#parts.rows.scan(prefix)) {
      const number = sequenceAt(row.key, prefix.length);
      if (number < cell.since) yield { number, value: row.value };
    }
  }
  #decodeInto(values: unknown[], bytes: Uint8Array): void {
    const from = new ByteReader(bytes);
    for (let rest = from.varint(); rest > 0; rest--) values.push(this.#serializer.decode(from));
  }

  writeList(cell: ListCell, batch: PackedBatch): void {
    const { rows } = this.#parts;
    const isScattered = cell.isWhole && cell.rows.length >= SCATTERED_ROWS && cell.values.length <= SHORT_LIST;
    const isReplaced = cell.isReplaced || isScattered;
    if (isReplaced) for (const number of cell.rows) this.#removeRow(cell, number, batch);
    const numbers: number[] = [];
    for (let from = isReplaced ? 0 : cell.written; from < cell.values.length; from += ROW_ELEMENTS) {
      numbers.push(rows.sequence);
      this.#putRow(cell.key, cell.group, cell.values.slice(from, from + ROW_ELEMENTS), batch);
    }
    cell.rows = isReplaced ? numbers : [...cell.rows, ...numbers];
    cell.isReplaced = false;
    cell.written = cell.values.length;
  }
  /** What is in the database can be read from there when the whole list is asked for. */
  listStored(cell: ListCell): void {
    if (cell.isWhole) return;
    cell.values = [];
    cell.written = 0;
    cell.rows = [];
    cell.since = this.#parts.rows.sequence;
    cell.hasMutable = false;
    this.#resize(cell, 0);
  }
  #removeRow({ key, group }: ListCell, number: number, batch: PackedBatch): void {
    const out = batch.remove();
    writeKeyPrefix(out, group, this.id, key);
    writeSequence(out, number);
    batch.end();
  }
  #putRow(key: Key, group: KeyGroup, values: readonly unknown[], batch: PackedBatch): void {
    const out = batch.put();
    writeKeyPrefix(out, group, this.id, key);
    writeSequence(out, this.#parts.rows.sequence++);
    batch.value();
    out.varint(values.length);
    for (const value of values) {
      const at = out.length;
      this.#serializer.encode(value, out);
      this.sizes.learn(value, out.length - at);
    }
    batch.end();
  }
  dropList(cell: ListCell): void {
    this.cells.delete(keyIdentity(cell.key));
  }
  #resize(cell: ListCell, bytes: number): void {
    this.#parts.clock.grow(cell, bytes - cell.valueBytes);
    cell.valueBytes = bytes;
  }

  restore(section: KeyedSection, batch: PackedBatch): void {
    readRows(section, this.#serializer, {
      ...UNVISITED,
      list: (key, values) => {
        for (let from = 0; from < values.length; from += ROW_ELEMENTS)
          this.#putRow(key, section.keyGroup, values.slice(from, from + ROW_ELEMENTS), batch);
      },
    });
  }
  *entries(): Iterable<StateEntry> {
    const { rows, keyGroups } = this.#parts;
    for (let group = keyGroups.first; group <= keyGroups.last; group++) {
      let key: Key | undefined;
      let values: unknown[] = [];
      for (const row of rows.scan(statePrefix(group, this.id))) {
        const next = decodeKeyBlock(new ByteReader(row.key, STATE_PREFIX_BYTES));
        if (this.cells.get(keyIdentity(next)) !== undefined) continue;
        if (key !== undefined && keyIdentity(next) !== keyIdentity(key)) {
          yield { key, kind: 'list', values };
          values = [];
        }
        key = next;
        this.#decodeInto(values, row.value);
      }
      if (key !== undefined) yield { key, kind: 'list', values };
    }
    for (const cell of this.cells.all()) {
      if (!cell.isWhole) this.complete(cell);
      if (cell.values.length > 0) yield { key: cell.key, kind: 'list', values: [...cell.values] };
    }
  }
}

function sequenceAt(key: Uint8Array, offset: number): number {
  const from = new ByteReader(key, offset);
  return from.u32() * 2 ** 32 + from.u32();
}
