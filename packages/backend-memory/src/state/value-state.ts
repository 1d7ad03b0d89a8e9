import { readRows } from '@weir/core/contracts';
import type {
  Key,
  KeyGroup,
  KeyedSection,
  Serializer,
  StateDeclaration,
  StateEntry,
  StateMeta,
  ValueState,
} from '@weir/core/contracts';
import { NO_CAPTURE } from '../capture/captures.js';
import type { Captures } from '../capture/captures.js';
import type { Preserved, RowSource } from '../capture/preserved.js';
import type { GroupPages } from './group-pages.js';
import { KeyedHandle } from './keyed-handle.js';
import { isMutable } from './mutable.js';
import { offsetOf } from './page.js';
import type { Slot } from './page.js';
import { metaOf } from './stored-state.js';
import type { StoreParts, StoredState } from './stored-state.js';
import { sweepOfValues } from './sweeps.js';
import type { Sweep } from './sweeps.js';
import { Table } from './table.js';
import { UNVISITED } from './unvisited.js';

/** All values of one value state. */
export class StoredValues implements StoredState, RowSource<Slot> {
  readonly meta: StateMeta;
  readonly handle: ValueState<unknown, unknown>;
  readonly sweep: Sweep | undefined;
  readonly #index: number;
  readonly #serializer: Serializer;
  readonly #table: Table<unknown>;
  readonly #captures: Captures;

  constructor(declaration: StateDeclaration, index: number, parts: StoreParts) {
    this.meta = metaOf(declaration);
    this.#serializer = declaration.serializer;
    this.#index = index;
    this.#table = new Table(parts.range);
    this.#captures = parts.captures;
    this.handle = new ValueHandle(this, this.#table, parts, declaration.initial);
    if (declaration.expiry !== undefined)
      this.sweep = sweepOfValues(this.#table, this.handle, parts.current, declaration.expiry);
  }

  lookAhead(keys: readonly Key[]): void {
    this.#table.lookAhead(keys);
  }
  group(group: KeyGroup): GroupPages<unknown> {
    return this.#table.group(group);
  }
  preserve(slot: Slot, version: number): void {
    const page = this.#table.page(slot);
    const at = offsetOf(slot);
    const stamp = page.stamps[at]!;
    if (stamp >= version) return;
    this.#captures.give(this, slot, stamp, version);
    page.stamps[at] = version;
  }
  append(slot: Slot, preserved: Preserved): void {
    const { group, keys, keyBlocks, values } = this.#table.page(slot);
    const at = offsetOf(slot);
    const rows = preserved.rows(group, this.#index);
    const { out } = rows;
    keyBlocks.write(at, keys[at]!, out);
    this.#serializer.encode(values[at], out);
    rows.added();
  }

  restore(section: KeyedSection): void {
    const table = this.#table;
    readRows(section, this.#serializer, {
      ...UNVISITED,
      value: (key, value) => {
        const slot = table.find(key);
        if (slot === undefined) table.add(key, section.keyGroup, NO_CAPTURE, value);
        else table.setValue(slot, value);
      },
    });
  }
  *entries(): Iterable<StateEntry> {
    const table = this.#table;
    for (const slot of table.all()) yield { key: table.key(slot), kind: 'value', value: table.value(slot) };
  }
}

class ValueHandle extends KeyedHandle<unknown> implements ValueState<unknown, unknown> {
  private readonly stored: StoredValues;
  private readonly captures: Captures;
  private readonly initial: (() => unknown) | undefined;

  constructor(stored: StoredValues, table: Table<unknown>, parts: StoreParts, initial: (() => unknown) | undefined) {
    super(table, parts);
    this.stored = stored;
    this.captures = parts.captures;
    this.initial = initial;
  }

  value(): unknown {
    const column = this.turn === this.current.turn ? this.column : this.lookUp();
    if (column === undefined) return this.initial?.();
    const value = column[this.offset];
    // Who reads an object may change it without a word.
    if (this.captures.newest !== NO_CAPTURE && isMutable(value)) this.preserve();
    return value;
  }
  update(value: unknown): void {
    const column = this.turn === this.current.turn ? this.column : this.lookUp();
    if (column === undefined) {
      this.createWith(value);
      return;
    }
    if (this.captures.newest !== NO_CAPTURE) this.preserve();
    column[this.offset] = value;
  }
  clear(): void {
    if (this.find() === undefined) return;
    if (this.captures.newest !== NO_CAPTURE) this.preserve();
    this.remove();
  }

  /** By itself, because the closure over its parameter would cost `update` an allocation per call. */
  private createWith(value: unknown): void {
    this.create(() => value);
  }
  private preserve(): void {
    this.stored.preserve(this.slot, this.captures.newest);
  }
}
