import type { Key, ListState, MapState, StateEntry, StateExpiry, ValueState } from '@weir/core/contracts';
import type { StoredState } from './stored-state.js';

/**
 * Looks at a state round after round, a budget at a time, and removes what has expired, see `KeyedStateStore.sweep`. What a round has read from the
 * database may have changed before it comes to it, so nothing goes before the handle has said the same.
 */
export function sweepOf(
  state: Pick<StoredState, 'handle' | 'entries'>,
  expiry: StateExpiry,
  setKey: (key: Key) => void,
): (budget: number) => void {
  let round: Iterator<StateEntry> | undefined;
  return (budget) => {
    for (let left = budget; left > 0; left--) {
      round ??= state.entries()[Symbol.iterator]();
      const next = round.next();
      if (next.done === true) {
        round = undefined;
        return;
      }
      if (next.value.kind === 'list') left -= next.value.values.length - 1;
      if (!isExpired(next.value, expiry)) continue;
      setKey(next.value.key);
      remove(next.value, state.handle, expiry);
    }
  };
}

function isExpired(entry: StateEntry, expiry: StateExpiry): boolean {
  return entry.kind === 'list' ? entry.values.every((value) => expiry.isExpired(value)) : expiry.isExpired(entry.value);
}

function remove(entry: StateEntry, handle: unknown, expiry: StateExpiry): void {
  switch (entry.kind) {
    case 'value': {
      const state = handle as ValueState<unknown>;
      const value = state.value();
      if (value !== undefined && expiry.isExpired(value)) state.clear();
      return;
    }
    case 'list': {
      const state = handle as ListState<unknown>;
      if ([...state.values()].every((value) => expiry.isExpired(value))) state.clear();
      return;
    }
    case 'map': {
      const state = handle as MapState<Key, unknown>;
      const value = state.get(entry.mapKey);
      if (value !== undefined && expiry.isExpired(value)) state.delete(entry.mapKey);
    }
  }
}
