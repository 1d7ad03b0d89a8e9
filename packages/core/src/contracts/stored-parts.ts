import type { OperatorMetadata } from './metadata.js';
import type { OperatorSnapshot } from './snapshot.js';

/**
 * What a checkpoint has of an operator, by what is lost where it is left behind. `positions`: where a source goes on; `output`: what a sink has
 * taken and not published; `in-flight`: records that were on their way to the operator.
 */
export type StoredPart = 'state' | 'positions' | 'output' | 'in-flight';

/** What sinks call what they keep besides committables. */
export const WRITER_STATE = 'writer';
export const UNWRITTEN = 'unwritten';

/** Nothing is in it that a restore could give back. */
export function isEmptySnapshot({
  keyed,
  operator,
  committables,
  channels = [],
}: Pick<OperatorSnapshot, 'keyed' | 'operator' | 'committables' | 'channels'>): boolean {
  return keyed.length + operator.length + channels.length === 0 && committables === undefined;
}

/** Without any, there is nothing of the operator in the checkpoint. */
export function storedParts({ enumerator, subtasks }: OperatorMetadata): readonly StoredPart[] {
  const isSource = enumerator !== undefined;
  const states = subtasks.flatMap(({ operator }) => operator).map(({ name }) => name);
  const ofSinks = states.filter((name) => name === WRITER_STATE || name === UNWRITTEN);
  const has: Readonly<Record<StoredPart, boolean>> = {
    // The operator state of a source are its positions.
    state: subtasks.some(({ keyed }) => keyed.length > 0) || (!isSource && states.length > ofSinks.length),
    positions: isSource,
    output: ofSinks.length > 0 || subtasks.some(({ committables }) => committables !== undefined),
    'in-flight': subtasks.some(({ channels }) => channels.length > 0),
  };
  return (Object.keys(has) as StoredPart[]).filter((part) => has[part]);
}

/** The setting of a start without which a part that no operator claims is refused. */
export type UnclaimedPermission = 'allowNonRestoredState' | 'allowNonRestoredPositionsAndOutput';
/** State begins anew without it. Without the rest records are lost or come twice, which is another decision. */
export function permissionFor(part: StoredPart): UnclaimedPermission {
  return part === 'state' ? 'allowNonRestoredState' : 'allowNonRestoredPositionsAndOutput';
}

/** "state and unpublished output". */
export function describeParts(parts: readonly StoredPart[]): string {
  return parts.map((part) => WORDS[part]).join(' and ');
}

const WORDS: Readonly<Record<StoredPart, string>> = {
  state: 'state',
  positions: 'source positions',
  output: 'unpublished output',
  'in-flight': 'records in flight',
};
