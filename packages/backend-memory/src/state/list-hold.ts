import type { Key, KeyGroup } from '@weir/core/contracts';
import type { Preserved } from '../capture/preserved.js';
import type { ListCell } from './list-cell.js';
import { StateHold } from './state-hold.js';

const ROW_ELEMENTS = 256;

export interface HeldList {
  readonly key: Key;
  readonly group: KeyGroup;
  readonly cell: ListCell;
  /** The first element to write. */
  readonly from: number;
  /** Writes the elements `from` up to, not including, `to` as one row. */
  readonly write: (key: Key, values: readonly unknown[], from: number, to: number) => void;
}

/** Elements of a list, up to the last there was. Behind them it may grow meanwhile. */
export class ListHold extends StateHold {
  readonly #list: HeldList;
  readonly #length: number;
  #values: readonly unknown[];
  #next: number;

  constructor(list: HeldList, state: number, preserved: Preserved) {
    super(list.cell, preserved, list.group, state);
    this.#list = list;
    this.#values = list.cell.values;
    this.#length = list.cell.values.length;
    this.#next = list.from;
  }

  drain(): void {
    const to = Math.min(this.#next + ROW_ELEMENTS, this.#length);
    this.#list.write(this.#list.key, this.#values, this.#next, to);
    this.rows.added();
    this.#next = to;
    if (to === this.#length) this.drop();
  }
  protected get remaining(): number {
    return this.#length - this.#next;
  }
  protected forget(): void {
    this.#values = [];
  }
}
