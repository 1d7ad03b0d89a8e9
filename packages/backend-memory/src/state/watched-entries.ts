import type { Captures } from '../capture/captures.js';
import type { RowSource } from '../capture/preserved.js';
import { ChangeRecorder } from '../changelog/change-recorder.js';
import { offsetOf } from './page.js';
import type { Slot } from './page.js';
import type { Table } from './table.js';

/** What has to be done about the entries of a table before they change: captures keep them as they were, and the change is noted. */
export class WatchedEntries<V> {
  readonly recorder: ChangeRecorder;
  readonly #table: Table<V>;
  readonly #source: RowSource<Slot>;
  readonly #captures: Captures;

  constructor(table: Table<V>, state: number, source: RowSource<Slot>, captures: Captures) {
    this.#table = table;
    this.#source = source;
    this.#captures = captures;
    this.recorder = new ChangeRecorder(captures.log, state);
  }

  preserve(slot: Slot, version: number): void {
    const page = this.#table.page(slot);
    const at = offsetOf(slot);
    const stamp = page.stamps[at]!;
    if (stamp >= version) return;
    this.#captures.give(this.#source, slot, stamp, version, page.markAt(at));
    page.stamps[at] = version;
  }
  /** True if the change is noted, and is the first of its era. */
  beforeChange(slot: Slot): boolean {
    const { newest, log } = this.#captures;
    this.preserve(slot, newest);
    return log.isOn && this.recorder.changed(this.#table.page(slot), slot);
  }
  beforeRemoval(slot: Slot): void {
    const { newest, log } = this.#captures;
    this.preserve(slot, newest);
    if (log.isOn) this.recorder.removed(this.#table.page(slot), slot);
  }
  markOf(slot: Slot): number {
    return this.#table.page(slot).markAt(offsetOf(slot));
  }
}
