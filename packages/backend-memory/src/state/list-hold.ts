import { writeListRow } from '@weir/core/contracts';
import type { Key, KeyGroup, Serializer } from '@weir/core/contracts';
import type { Preserved } from '../capture/preserved.js';
import type { ListCell } from './list-cell.js';
import { StateHold } from './state-hold.js';

const ROW_ELEMENTS = 256;

/** The first elements of a list, as many as there were. Behind them it may grow meanwhile. */
export class ListHold extends StateHold {
  readonly #key: Key;
  readonly #length: number;
  readonly #serializer: Serializer;
  #values: readonly unknown[];
  #next = 0;

  constructor(key: Key, group: KeyGroup, cell: ListCell, state: number, serializer: Serializer, preserved: Preserved) {
    super(cell, preserved, group, state);
    this.#key = key;
    this.#values = cell.values;
    this.#length = cell.values.length;
    this.#serializer = serializer;
  }

  drain(): void {
    const to = Math.min(this.#next + ROW_ELEMENTS, this.#length);
    writeListRow(this.rows.out, this.#key, this.#values, this.#next, to, this.#serializer);
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
