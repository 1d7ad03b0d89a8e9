import type { RecordedKind, StateKind } from '../contracts/snapshot.js';

/** How a state backend keeps what a checkpoint calls a state of this kind: it knows no others. */
export function keptAs(kind: RecordedKind): StateKind {
  return kind === 'list' || kind === 'map' ? kind : 'value';
}
