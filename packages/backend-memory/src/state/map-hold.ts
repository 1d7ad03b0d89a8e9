import type { Preserved } from '../capture/preserved.js';
import type { MapCell, MapItem } from './map-cell.js';
import { StateHold } from './state-hold.js';

const ITEMS_AT_ONCE = 64;

/** Gives an item, as it is now, to every capture up to `version` that does not hold it yet. */
export type PreserveItem = (item: MapItem, version: number) => void;

/** A large map, written item by item. Items that are touched before their turn comes have been preserved by themselves. */
export class MapHold extends StateHold {
  readonly #preserveItem: PreserveItem;
  #items: ReadonlyMap<unknown, MapItem>;
  #rest: Iterator<MapItem>;

  constructor(cell: MapCell, state: number, preserveItem: PreserveItem, preserved: Preserved) {
    super(cell, preserved, cell.group, state);
    this.#preserveItem = preserveItem;
    this.#items = cell.items;
    this.#rest = cell.items.values();
  }

  drain(): void {
    for (let i = 0; i < ITEMS_AT_ONCE && !this.isDone; i++) {
      const next = this.#rest.next();
      if (next.done === true) this.drop();
      else this.#preserveItem(next.value, this.preserved.version);
    }
  }
  protected get remaining(): number {
    return this.#items.size;
  }
  protected forget(): void {
    this.#items = NOTHING;
    this.#rest = NOTHING.values();
  }
}

const NOTHING: ReadonlyMap<unknown, MapItem> = new Map();
