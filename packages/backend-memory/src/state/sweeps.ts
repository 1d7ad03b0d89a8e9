import type { Key, ListState, MapState, StateExpiry, ValueState } from '@weir/core/contracts';
import type { CurrentKey } from './current-key.js';
import type { ListCell } from './list-cell.js';
import type { MapCell, MapItem } from './map-cell.js';
import type { Table } from './table.js';
import { END, NOTHING, TableRound } from './table-round.js';

// How what has expired is found and removed, see `KeyedStateStore.sweep`. It goes by the handle, so that captures keep what they hold. A sweep
// ends with its budget or its round, whichever comes first.

export interface Sweep {
  (budget: number): void;
}

export function sweepOfValues(
  table: Table<unknown>,
  handle: ValueState<unknown, unknown>,
  current: CurrentKey,
  expiry: StateExpiry,
): Sweep {
  const round = new TableRound(table);
  return (budget) => {
    for (let left = budget; left > 0; left--) {
      const slot = round.step();
      if (slot === END) return;
      if (slot === NOTHING || !expiry.isExpired(table.value(slot))) continue;
      current.set(table.key(slot));
      handle.clear();
    }
  };
}

/** The youngest element is looked at first: of a list that lives on usually no other. One that is dead costs as many looks as it has elements, once. */
export function sweepOfLists(
  table: Table<ListCell>,
  handle: ListState<unknown>,
  current: CurrentKey,
  expiry: StateExpiry,
): Sweep {
  const round = new TableRound(table);
  return (budget) => {
    for (let left = budget; left > 0; left--) {
      const slot = round.step();
      if (slot === END) return;
      if (slot === NOTHING) continue;
      const { values } = table.value(slot);
      let rest = values.length;
      while (rest > 0 && expiry.isExpired(values[rest - 1])) rest--;
      left -= values.length - rest;
      if (rest > 0) continue;
      current.set(table.key(slot));
      handle.clear();
    }
  };
}

/** Stops inside a map, and goes on there. */
export function sweepOfMaps(
  table: Table<MapCell>,
  handle: MapState<Key, unknown>,
  current: CurrentKey,
  expiry: StateExpiry,
): Sweep {
  const round = new TableRound(table);
  let inside: { readonly cell: MapCell; readonly items: Iterator<MapItem> } | undefined;
  return (budget) => {
    for (let left = budget; left > 0; left--) {
      if (inside === undefined) {
        const slot = round.step();
        if (slot === END) return;
        if (slot === NOTHING) continue;
        const cell = table.value(slot);
        inside = { cell, items: cell.items.values() };
      }
      const { cell, items } = inside;
      const next = items.next();
      // Cleared meanwhile, its key may have another map by now.
      if (next.done === true || cell.isCleared) inside = undefined;
      else if (expiry.isExpired(next.value.value)) {
        current.set(cell.key);
        handle.delete(next.value.key);
      }
    }
  };
}
