import type { KeyGroup } from '@weir/core/contracts';
import type { GroupRows } from '../capture/group-rows.js';
import type { Hold } from '../capture/hold.js';
import type { Preserved, RowSource } from '../capture/preserved.js';

/** Up to this many elements of a key are encoded at once rather than held: a hold weighs more than they do. */
export const ENCODED_AT_ONCE = 64;

/** What an element counts that only a hold keeps alive. What it really weighs shows when it is encoded. */
const ELEMENT_BYTES = 64;

/** A list or map that captures may hold on to. */
export interface Holdable {
  holds: readonly StateHold[];
}
export const NO_HOLDS: readonly StateHold[] = [];

/** What the holds of lists and of maps have in common. */
export abstract class StateHold implements Hold {
  protected readonly preserved: Preserved;
  protected readonly rows: GroupRows;
  #keptAlive = 0;
  isDone = false;

  constructor(held: Holdable, preserved: Preserved, group: KeyGroup, state: number) {
    this.preserved = preserved;
    this.rows = preserved.rows(group, state);
    this.rows.hold(this);
    held.holds = [...openHolds(held), this];
  }

  abstract drain(): void;
  /** About how many elements are not written yet. */
  protected abstract get remaining(): number;
  protected abstract forget(): void;

  /** Appends all the rest now. */
  finish(): void {
    this.preserved.take(TO_THE_END, this);
  }
  /** The state has let go of what is held here, so from now on it counts as memory of the capture. */
  keepAlive(): void {
    this.#keptAlive = this.remaining * ELEMENT_BYTES;
    this.rows.keepAlive(this.#keptAlive);
  }
  drop(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.rows.keepAlive(-this.#keptAlive);
    this.forget();
  }
}

const TO_THE_END: RowSource<Hold> = {
  append: (hold) => {
    while (!hold.isDone) hold.drain();
  },
};

/** The holds that still have something to write. */
export function openHolds(held: Holdable): StateHold[] {
  return held.holds.filter((hold) => !hold.isDone);
}
