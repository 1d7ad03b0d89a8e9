import type { Key } from '@weir/core/contracts';
import type { MapCell, MapItem } from './map-cell.js';

/** The live entries of a map, like those of a JavaScript `Map`; `read` is told of each before it is handed out. */
export class MapView implements Iterable<readonly [Key, unknown]> {
  readonly #cell: MapCell;
  readonly #read: (item: MapItem) => unknown;

  constructor(cell: MapCell, read: (item: MapItem) => unknown) {
    this.#cell = cell;
    this.#read = read;
  }

  *[Symbol.iterator](): Iterator<readonly [Key, unknown]> {
    for (const item of this.#cell.items.values()) {
      if (this.#cell.isCleared) return;
      yield [item.key, this.#read(item)];
    }
  }
}
