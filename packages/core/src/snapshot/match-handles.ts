import type { KeyedStateHandle, NativeStateHandle } from '../contracts/snapshot.js';
import type { StateDeclaration } from '../contracts/state-backend.js';
import { WeirError } from '../errors.js';
import { matchKeyedStates, type Declared, type StateMatch } from '../state/state-match.js';

export type KeyedMatches = ReadonlyMap<string, StateMatch<StateDeclaration>>;

/**
 * What becomes of each keyed state behind the handles of one operator. What a backend keeps in files of its own is taken as it is or not at all:
 * its values are not read on a restore, so nothing could migrate them. `where` names the operator in errors.
 */
export function matchHandles(
  handles: readonly KeyedStateHandle[],
  declared: Declared<StateDeclaration>,
  where: string,
): KeyedMatches {
  const states = handles.flatMap((handle) => handle.states);
  const matches = new Map(matchKeyedStates(states, declared, where));
  for (const handle of handles) {
    if (handle.format !== 'native') continue;
    for (const { name } of handle.states) {
      const match = matches.get(name);
      if (match === undefined || match.kind === 'incompatible' || isUnchanged(match)) continue;
      matches.set(name, { kind: 'incompatible', error: notRewritten(handle, name, where, match) });
    }
  }
  return matches;
}

/** Whether what is stored and what is declared are the same to the byte. */
export function isUnchanged(match: StateMatch<StateDeclaration>): boolean {
  return match.kind === 'kept' && match.changes.length === 0;
}

function notRewritten(
  { engine }: NativeStateHandle,
  state: string,
  where: string,
  match: StateMatch<StateDeclaration>,
): WeirError {
  const what = match.kind === 'kept' ? match.changes.join(', ') : 'dropped';
  return new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `State '${state}' of ${where} is kept in the files of state backend '${engine}', which a restore does not rewrite, and it is to change ` +
      `(${what}). Take a savepoint with the program as it was, and start the changed one from that.`,
    { recoverable: false },
  );
}
