import type { KeyGroupRange, KeyedStateHandle, RestoredBase, SectionsHandle, StateMeta } from '@weir/core/contracts';

/**
 * The handles that the checkpoints of a restored store can go on from: a base and what changed since, of this very subtask and of the states it has
 * now, in files that later checkpoints may refer to. None: they begin anew.
 */
export function restoredLinks(
  { handles, isOwned }: RestoredBase,
  states: readonly StateMeta[],
  range: KeyGroupRange,
): readonly SectionsHandle[] {
  const links = handles.filter((handle) => handle.format !== 'native');
  const fits = (handle: KeyedStateHandle): boolean =>
    handle.range.first === range.first &&
    handle.range.last === range.last &&
    handle.states.every((stored) => states.some((state) => isSame(stored, state)));
  const isChain =
    links.length === handles.length &&
    links.every((link, i) => link.blob.kind === 'shared' && link.format === (i === 0 ? 'canonical' : 'changes'));
  return isOwned && isChain && links.every(fits) ? links : [];
}

/** What it is recorded as does not matter here: a reducing state is a value. */
function isSame(stored: StateMeta, state: StateMeta): boolean {
  return (
    stored.name === state.name &&
    stored.serializer.id === state.serializer.id &&
    stored.serializer.version === state.serializer.version
  );
}
