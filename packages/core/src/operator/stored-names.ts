import { matchOperatorStates, type Declared, type OperatorStateDeclaration } from '../state/state-match.js';
import type { OperatorContext, RestoredState } from './operator.js';

/**
 * What the checkpoint calls each operator state, where it has any of it. Fails where something is stored that does not fit what is declared:
 * nothing is dropped without a word.
 */
export function storedNames<D extends OperatorStateDeclaration>(
  { uid }: Pick<OperatorContext, 'uid'>,
  declared: Declared<D>,
  { checkpointId, operatorStates }: RestoredState,
): ReadonlyMap<D, string> {
  const names = new Map<D, string>();
  const where = `operator '${uid}' in chk-${String(checkpointId)}`;
  for (const [name, match] of matchOperatorStates(operatorStates, declared, where)) {
    if (match.kind === 'incompatible') throw match.error;
    if (match.kind === 'kept') names.set(match.state, name);
  }
  return names;
}
