import type { KeyedStateHandle } from '../contracts/snapshot.js';
import type { StateDeclaration } from '../contracts/state-backend.js';
import { matchKeyedStates, type Declared, type StateMatch } from '../state/state-match.js';

export type KeyedMatches = ReadonlyMap<string, StateMatch<StateDeclaration>>;

/** What becomes of each keyed state behind the handles of one operator. `where` names the operator in errors. */
export function matchHandles(
  handles: readonly KeyedStateHandle[],
  declared: Declared<StateDeclaration>,
  where: string,
): KeyedMatches {
  return matchKeyedStates(
    handles.flatMap(({ states }) => states),
    declared,
    where,
  );
}

/** Whether what is stored and what is declared are the same to the byte. */
export function isUnchanged(match: StateMatch<StateDeclaration>): boolean {
  return match.kind === 'kept' && match.changes.length === 0;
}
