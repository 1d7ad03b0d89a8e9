import { ownKey, ownedGroup } from '@weir/core/contracts';
import type { Key, KeyGroup } from '@weir/core/contracts';
import type { ChangeRecorder } from '../changelog/change-recorder.js';
import type { CurrentKey } from './current-key.js';
import { offsetOf } from './page.js';
import type { Slot } from './page.js';
import type { StoreParts } from './stored-state.js';
import type { Table } from './table.js';

/**
 * What handles of every kind have in common: the entry of the current key, looked up once per turn however often it is used.
 *
 * Handles and the index of keys are what state costs per record. Their fields are private to the compiler only, and the look-up is
 * inherited: private names, and a second object between handle and table, each made a record dearer by a fifth.
 */
export abstract class KeyedHandle<V> {
  private readonly table: Table<V>;
  private readonly parts: StoreParts;
  private readonly recorder: ChangeRecorder;
  protected readonly current: CurrentKey;
  protected turn = -1;
  protected column: V[] | undefined;
  /** Where the entry is, once it is found: its number in the table, and its place in the page. */
  protected slot: Slot = 0;
  protected offset = 0;

  constructor(table: Table<V>, parts: StoreParts, recorder: ChangeRecorder) {
    this.table = table;
    this.parts = parts;
    this.recorder = recorder;
    this.current = parts.current;
  }

  /** The values of the page that holds the entry at `offset`; undefined while the current key has none. */
  protected find(): V[] | undefined {
    return this.turn === this.current.turn ? this.column : this.lookUp();
  }

  /** Makes the entry of the current key, which has none. It is younger than every capture. */
  protected create(make: (key: Key, group: KeyGroup) => V): V {
    const group = ownedGroup(this.current.key, this.parts);
    const key = ownKey(this.current.key);
    const { captures } = this.parts;
    const value = make(key, group);
    const slot = this.table.add(key, group, captures.newest, value);
    if (captures.log.isOn) this.recorder.created(this.table.page(slot), slot);
    this.pointAt(slot);
    return value;
  }

  /** Removes the entry of the current key, which has one. */
  protected remove(): void {
    this.table.remove(this.slot);
    this.column = undefined;
  }

  protected lookUp(): V[] | undefined {
    const { turn, key, place } = this.current;
    if (turn <= 0) throw this.current.violation();
    const slot = this.table.findAt(key, place);
    this.turn = turn;
    return slot === undefined ? (this.column = undefined) : this.pointAt(slot);
  }

  private pointAt(slot: Slot): V[] {
    this.slot = slot;
    this.offset = offsetOf(slot);
    return (this.column = this.table.valuesAround(slot));
  }
}
