import { ownKey, ownedGroup } from '@weir/core/contracts';
import type { Key, KeyGroup } from '@weir/core/contracts';
import type { StoreParts } from './stored-state.js';

/** A key of the subtask, in a form that nobody else changes, and its group. */
export interface KeyPlace {
  readonly key: Key;
  readonly group: KeyGroup;
}

/** Where the current key belongs. Throws KEY_INVALID, or PROTOCOL_VIOLATION if it is another subtask's. */
export function placeOfCurrentKey(parts: StoreParts): KeyPlace {
  const { current } = parts;
  if (current.turn <= 0) throw current.violation();
  return placeOf(current.key, parts);
}
export function placeOf(key: Key, parts: StoreParts): KeyPlace {
  return { group: ownedGroup(key, parts), key: ownKey(key) };
}
