import type { Key, KeyGroup, KeyIdentity } from '@weir/core/contracts';
import { NO_HOLDS } from './state-hold.js';
import type { Holdable, StateHold } from './state-hold.js';

/** The map of one key. Clearing drops it whole, and captures may go on writing it. */
export class MapCell implements Holdable {
  readonly key: Key;
  readonly group: KeyGroup;
  readonly items: Map<KeyIdentity, MapItem> = new Map<KeyIdentity, MapItem>();
  holds: readonly StateHold[] = NO_HOLDS;
  isCleared = false;

  constructor(key: Key, group: KeyGroup) {
    this.key = key;
    this.group = group;
  }
}

/** One entry of a user's map; preserved by itself. */
export class MapItem {
  readonly cell: MapCell;
  readonly key: Key;
  /** The newest capture that holds this item already or is older than it. */
  stamp: number;
  /** When it changed last, see `ChangeLog.mark`. */
  mark: number;
  value: unknown;

  constructor(cell: MapCell, key: Key, stamp: number, mark: number, value: unknown) {
    this.cell = cell;
    this.key = key;
    this.stamp = stamp;
    this.mark = mark;
    this.value = value;
  }
}
