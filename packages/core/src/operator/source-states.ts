import type { Source, SourceSplit } from '../contracts/source.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { Declared, OperatorStateDeclaration } from '../state/state-match.js';

/** A split that a subtask reads, as its checkpoints store it. */
export interface SplitState {
  readonly split: SourceSplit;
  /** Absent: from the beginning. */
  readonly position?: unknown;
}
/** The name of the state. */
export const SPLITS = 'splits';

/** What the subtasks of a source keep in checkpoints. */
export function sourceStates(source: Pick<Source<unknown>, 'serializer'>): Declared<OperatorStateDeclaration> {
  return { states: [{ name: SPLITS, mode: 'list', serializer: source.serializer ?? defaultSerializer }], dropped: [] };
}
