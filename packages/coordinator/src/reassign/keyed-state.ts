import type { KeyGroupRange, KeyedStateHandle } from '@weir/core/contracts';

/** Keyed state by key-group range: of every handle the groups within `range`, and no handle that has none. */
export function withinRange(handles: readonly KeyedStateHandle[], range: KeyGroupRange): readonly KeyedStateHandle[] {
  return handles.flatMap((handle) => {
    const groups = handle.groups.filter(({ keyGroup }) => keyGroup >= range.first && keyGroup <= range.last);
    if (groups.length === 0) return [];
    const first = Math.max(handle.range.first, range.first);
    const last = Math.min(handle.range.last, range.last);
    return [{ ...handle, range: { first, last }, groups }];
  });
}
