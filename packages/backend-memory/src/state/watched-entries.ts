import type { Captures } from '../capture/captures.js';
import type { PageSource, RowSource } from '../capture/preserved.js';
import { ChangeRecorder } from '../changelog/change-recorder.js';
import { offsetOf } from './page.js';
import type { Page, Slot } from './page.js';
import type { Table } from './table.js';

/** What has to be done about the entries of a table before they change: captures keep them as they were, and the change is noted. */
export class WatchedEntries<V> {
  readonly recorder: ChangeRecorder;
  readonly #table: Table<V>;
  readonly #source: RowSource<Slot>;
  readonly #pages: PageSource<V> | undefined;
  readonly #captures: Captures;

  constructor(table: Table<V>, state: number, source: RowSource<Slot>, captures: Captures, pages?: PageSource<V>) {
    this.#table = table;
    this.#source = source;
    this.#captures = captures;
    this.#pages = pages;
    this.recorder = new ChangeRecorder(captures.log, state);
  }

  preserve(slot: Slot, version: number): void {
    const page = this.#table.page(slot);
    if (page.taken >= version) return;
    const at = offsetOf(slot);
    const stamp = page.stamps[at]!;
    if (stamp >= version || (this.#isWorthAll(page) && this.preservePage(page))) return;
    this.#captures.give(this.#source, slot, Math.max(stamp, page.taken), version, page.markAt(at));
    page.stamps[at] = version;
    page.parted = version;
  }
  /** Gives the whole page to every capture that does not hold it yet. False, and nothing is given, unless that is quick. */
  preservePage(page: Page<V>): boolean {
    const { newest, areWhole } = this.#captures;
    if (page.taken >= newest) return true;
    if (this.#pages === undefined || !areWhole || page.mixed === newest) return false;
    if (!this.#pages.takesAll(page)) {
      page.mixed = newest;
      return false;
    }
    this.#captures.givePage(this.#pages, page);
    return true;
  }
  /** No record waits for long while all of it is taken. */
  #isWorthAll(page: Page<V>): boolean {
    if (this.#pages === undefined || page.mixed === this.#captures.newest) return false;
    return this.#pages.hasImage(page) || this.#captures.mayTake(page.values.length);
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
