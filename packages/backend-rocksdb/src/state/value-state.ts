import { ByteReader, decodeKeyBlock, keyIdentity, readRows } from '@weir/core/contracts';
import type {
  Key,
  KeyGroup,
  KeyIdentity,
  KeyedSection,
  Serializer,
  StateDeclaration,
  StateEntry,
  StateExpiry,
  StateMeta,
  ValueStateHandle,
} from '@weir/core/contracts';
import { ABSENT, Cell } from '../cache/cell.js';
import type { Clock } from '../cache/clock.js';
import type { Generations } from '../cache/generations.js';
import type { PackedBatch } from '../cache/packed-batch.js';
import { STATE_PREFIX_BYTES, statePrefix, writeKeyPrefix } from '../row-keys.js';
import type { CurrentKey } from './current-key.js';
import { KeyIndex } from './key-index.js';
import { placeOf, placeOfCurrentKey } from './key-place.js';
import type { KeyPlace } from './key-place.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { UNVISITED } from './unvisited.js';
import { ValueSizes, isMutable } from './value-sizes.js';

/** A batch is looked ahead for if one row in so many records was read during the last. */
const AHEAD_FROM = 8;

/** The value of one key. */
class ValueCell extends Cell {
  readonly state: StoredValues;
  readonly key: Key;
  readonly group: KeyGroup;
  value: unknown;
  /** What is counted for the value. */
  valueBytes: number;

  constructor(state: StoredValues, key: Key, group: KeyGroup, value: unknown, valueBytes: number) {
    super();
    this.state = state;
    this.key = key;
    this.group = group;
    this.value = value;
    this.valueBytes = valueBytes;
  }

  protected write(batch: PackedBatch): void {
    this.state.write(this, batch);
  }
  drop(): void {
    this.state.cells.delete(keyIdentity(this.key));
  }
}

/** All values of one value state. */
export class StoredValues implements StoredState {
  readonly meta: StateMeta;
  readonly handle: ValueStateHandle;
  id: number;
  readonly cells: KeyIndex<ValueCell> = new KeyIndex<ValueCell>();
  readonly sizes: ValueSizes = new ValueSizes();
  readonly #serializer: Serializer;
  readonly #parts: StoreParts;
  /** Rows that were read since the last look ahead. */
  #read = 0;

  constructor(declaration: StateDeclaration, id: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.id = id;
    this.#parts = parts;
    this.handle = new ValueHandle(this, parts, declaration);
  }

  /** A cell that was not there, for the current key. */
  create(): ValueCell {
    const { key, group } = placeOfCurrentKey(this.#parts);
    return this.#add(key, group, ABSENT, 0);
  }
  /** The cell of the current key, which is not in memory, with what is stored. */
  load(): ValueCell {
    const { key, group } = placeOfCurrentKey(this.#parts);
    const { rows } = this.#parts;
    rows.key.reset();
    writeKeyPrefix(rows.key, group, this.id, key);
    return this.#addStored(key, group, rows.get());
  }
  #addStored(key: Key, group: KeyGroup, stored: ByteReader | undefined): ValueCell {
    this.#read++;
    return stored === undefined
      ? this.#add(key, group, ABSENT, 0)
      : this.#add(key, group, this.#serializer.decode(stored), stored.end);
  }
  /** Reads at once what is not in memory, if that was much the last time: to look for it costs as much as to find it. */
  lookAhead(keys: readonly Key[]): void {
    const read = this.#read;
    this.#read = 0;
    if (read * AHEAD_FROM < keys.length) return;
    const { rows } = this.#parts;
    const missing = new Map<KeyIdentity, KeyPlace>();
    rows.keys.reset();
    for (const key of keys) {
      const identity = keyIdentity(key);
      if (this.cells.get(identity) !== undefined || missing.has(identity)) continue;
      const place = placeOf(key, this.#parts);
      missing.set(identity, place);
      writeKeyPrefix(rows.beginKey(), place.group, this.id, place.key);
      rows.endKey();
    }
    if (missing.size === 0) return;
    const places = missing.values();
    for (const stored of rows.getMany()) {
      const { key, group } = places.next().value!;
      this.#addStored(key, group, stored);
    }
  }
  #add(key: Key, group: KeyGroup, value: unknown, valueBytes: number): ValueCell {
    const cell = new ValueCell(this, key, group, value, valueBytes);
    this.#parts.clock.add(cell, valueBytes + (typeof key === 'string' ? key.length : 8));
    this.cells.set(keyIdentity(key), cell);
    return cell;
  }

  write(cell: ValueCell, batch: PackedBatch): void {
    const { key, group, value } = cell;
    if (value === ABSENT) {
      writeKeyPrefix(batch.remove(), group, this.id, key);
      batch.end();
      return;
    }
    const out = batch.put();
    writeKeyPrefix(out, group, this.id, key);
    batch.value();
    this.#serializer.encode(value, out);
    const bytes = batch.end();
    this.sizes.learn(value, bytes);
    this.#parts.clock.grow(cell, bytes - cell.valueBytes);
    cell.valueBytes = bytes;
  }

  restore(section: KeyedSection, batch: PackedBatch): void {
    readRows(section, this.#serializer, {
      ...UNVISITED,
      value: (key, value) => {
        const out = batch.put();
        writeKeyPrefix(out, section.keyGroup, this.id, key);
        batch.value();
        this.#serializer.encode(value, out);
        batch.end();
      },
    });
  }
  *entries(): Iterable<StateEntry> {
    const { rows, keyGroups } = this.#parts;
    for (let group = keyGroups.first; group <= keyGroups.last; group++) {
      for (const row of rows.scan(statePrefix(group, this.id))) {
        const key = decodeKeyBlock(new ByteReader(row.key, STATE_PREFIX_BYTES));
        if (this.cells.get(keyIdentity(key)) !== undefined) continue;
        yield { key, kind: 'value', value: this.#serializer.decode(new ByteReader(row.value)) };
      }
    }
    for (const { key, value } of this.cells.all()) if (value !== ABSENT) yield { key, kind: 'value', value };
  }
}

class ValueHandle implements ValueStateHandle {
  private readonly state: StoredValues;
  private readonly current: CurrentKey;
  private readonly clock: Clock;
  private readonly generations: Generations;
  private readonly initial: (() => unknown) | undefined;
  private readonly expiry: StateExpiry | undefined;
  private turn = -1;
  private cell: ValueCell | undefined;

  constructor(state: StoredValues, parts: StoreParts, { initial, expiry }: StateDeclaration) {
    this.state = state;
    this.current = parts.current;
    this.clock = parts.clock;
    this.generations = parts.generations;
    this.initial = initial;
    this.expiry = expiry;
  }

  value(): unknown {
    const cell = (this.turn === this.current.turn ? this.cell : this.find()) ?? (this.cell = this.state.load());
    const { value } = cell;
    if (isMutable(value, this.expiry)) {
      // Who reads an object may change it without a word.
      if (cell.dirtyIn !== this.generations.number) this.generations.mark(cell);
      cell.lentIn = this.current.callback;
    } else if (value === ABSENT) {
      return this.initial?.();
    }
    return value;
  }
  update(value: unknown): void {
    const cell = (this.turn === this.current.turn ? this.cell : this.find()) ?? (this.cell = this.state.create());
    if (cell.dirtyIn !== this.generations.number) this.generations.mark(cell);
    cell.value = value;
    if (typeof value === 'object') cell.lentIn = this.current.callback;
    const bytes = this.state.sizes.of(value);
    if (bytes !== cell.valueBytes) this.resize(cell, bytes);
  }
  holds(value: object): boolean {
    return this.turn === this.current.turn && this.cell?.value === value;
  }
  clear(): void {
    const found = this.turn === this.current.turn ? this.cell : this.find();
    // Known not to be stored, or about to be removed.
    if (found?.value === ABSENT) return;
    const cell = found ?? (this.cell = this.state.create());
    if (cell.dirtyIn !== this.generations.number) this.generations.mark(cell);
    cell.value = ABSENT;
    this.resize(cell, 0);
  }

  private find(): ValueCell | undefined {
    const { turn, key } = this.current;
    if (turn <= 0) throw this.current.violation();
    const cell = this.state.cells.get(keyIdentity(key));
    this.turn = turn;
    if (cell !== undefined) cell.isRecent = true;
    return (this.cell = cell);
  }
  private resize(cell: ValueCell, bytes: number): void {
    this.clock.grow(cell, bytes - cell.valueBytes);
    cell.valueBytes = bytes;
  }
}
