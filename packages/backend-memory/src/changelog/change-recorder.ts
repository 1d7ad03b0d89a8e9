import type { Key } from '@weir/core/contracts';
import { offsetOf } from '../state/page.js';
import type { Page, Slot } from '../state/page.js';
import type { ChangeLog } from './change-log.js';

/** Notes what changes in one state, each entry once per era. To be asked only while the log is on. */
export class ChangeRecorder {
  readonly #log: ChangeLog;
  readonly #state: number;

  constructor(log: ChangeLog, state: number) {
    this.#log = log;
    this.#state = state;
  }

  /** False if the entry is noted already. */
  changed(page: Page<unknown>, slot: Slot): boolean {
    return this.#note(page, slot, this.#log.mark);
  }
  created(page: Page<unknown>, slot: Slot): void {
    this.#note(page, slot, this.#log.mark + 1);
    // Also where the slot is noted for an entry that was there before.
    page.setMark(offsetOf(slot), this.#log.mark + 1);
  }
  /** The entry that is in the slot goes. */
  removed(page: Page<unknown>, slot: Slot): void {
    const offset = offsetOf(slot);
    if (page.markAt(offset) === this.#log.mark + 1) return;
    this.#log.current.growing(page.group, this.#state).removed.push(page.keys[offset]!);
    this.#log.current.rows++;
  }
  removedEntry(page: Page<unknown>, key: Key, mapKey: Key): void {
    this.#log.current.growing(page.group, this.#state).removedEntries.push(key, mapKey);
    this.#log.current.rows++;
  }

  #note(page: Page<unknown>, slot: Slot, mark: number): boolean {
    const { current, mark: present } = this.#log;
    const offset = offsetOf(slot);
    if (page.markAt(offset) >= present) return false;
    page.setMark(offset, mark);
    current.growing(page.group, this.#state).slots.push(slot);
    return true;
  }
}
