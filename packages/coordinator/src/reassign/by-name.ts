import type { OperatorStateHandle } from '@weir/core/contracts';

/** The handles of each state, in the order of the old subtasks; states in the order in which they are met first. */
export function byName(
  old: readonly (readonly OperatorStateHandle[])[],
): ReadonlyMap<string, readonly OperatorStateHandle[]> {
  const states = new Map<string, OperatorStateHandle[]>();
  for (const handle of old.flat()) {
    const known = states.get(handle.name);
    if (known === undefined) states.set(handle.name, [handle]);
    else known.push(handle);
  }
  return states;
}
