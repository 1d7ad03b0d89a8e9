import type { KeyGroupRange, KeyedStateHandle } from '@weir/core/contracts';

/**
 * Keyed state by key-group range: every handle with something within `range`, in their order, and of sections no groups but these. A backend's own
 * files are cut by whoever restores them.
 */
export function withinRange(handles: readonly KeyedStateHandle[], range: KeyGroupRange): readonly KeyedStateHandle[] {
  return handles.flatMap((handle): readonly KeyedStateHandle[] => {
    const first = Math.max(handle.range.first, range.first);
    const last = Math.min(handle.range.last, range.last);
    if (last < first) return [];
    if (handle.format === 'native') return [handle];
    const groups = handle.groups.filter(({ keyGroup }) => keyGroup >= first && keyGroup <= last);
    return groups.length === 0 ? [] : [{ ...handle, range: { first, last }, groups }];
  });
}
