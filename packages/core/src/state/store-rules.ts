import type { StateMeta } from '../contracts/snapshot.js';
import type { KeyedSection, StateScope } from '../contracts/state-backend.js';
import { assertKey } from '../element/assert-key.js';
import type { KeyGroup, OperatorUid } from '../element/ids.js';
import type { Key } from '../element/key.js';
import { keyGroupOf } from '../element/key-group.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';

// What keyed state stores refuse alike, and in the same words.

/** STATE_UNKNOWN: the operator has no state of this name. */
export function unknownState(operator: OperatorUid, name: string, declared: Iterable<string>): WeirError {
  return new WeirError(
    'STATE_UNKNOWN',
    `Operator ${operator} declares no state '${name}'. It declares: ${[...declared].join(', ') || 'none'}.`,
    { recoverable: false },
  );
}

/** The group of a key that a store gets an entry for. KEY_INVALID if it is no key, PROTOCOL_VIOLATION if it is another subtask's. */
export function ownedGroup(
  key: Key,
  { operator, keyGroups, maxParallelism }: Pick<StateScope, 'operator' | 'keyGroups' | 'maxParallelism'>,
): KeyGroup {
  assertKey(key, `Operator ${operator}`);
  const group = keyGroupOf(key, maxParallelism);
  if (group >= keyGroups.first && group <= keyGroups.last) return group;
  throw new WeirError(
    'PROTOCOL_VIOLATION',
    `A record of key group ${group} reached a subtask of operator '${operator}' that owns ${keyGroups.first} to ${keyGroups.last}.`,
  );
}

/** PROTOCOL_VIOLATION: a call after `close`. */
export function closedStore(operator: OperatorUid): WeirError {
  return new WeirError('PROTOCOL_VIOLATION', `The keyed state of operator ${operator} was used after it was closed.`);
}

/** STATE_NO_KEY: a handle was used before the first key. */
export function noCurrentKey(operator: OperatorUid): WeirError {
  return new WeirError(
    'STATE_NO_KEY',
    `Keyed state of operator ${operator} was used without a key. Use it in onRecord and other keyed callbacks only, not in open or close.`,
  );
}

/**
 * Has `restore` take rows back: CHECKPOINT_INCOMPATIBLE if they are of another kind of state, CHECKPOINT_UNREADABLE if it fails with anything but an
 * error that says what it is.
 */
export function restoringSection(
  operator: OperatorUid,
  declared: Pick<StateMeta, 'name' | 'kind'>,
  section: KeyedSection,
  restore: () => void,
): void {
  const place = `State '${declared.name}' of operator '${operator}'`;
  if (section.state.kind !== declared.kind) {
    throw new WeirError(
      'CHECKPOINT_INCOMPATIBLE',
      `${place} is a ${declared.kind} state, but a ${section.state.kind} state was stored.`,
      { recoverable: false },
    );
  }
  try {
    restore();
  } catch (error) {
    if (isWeirError(error)) throw error;
    throw new WeirError(
      'CHECKPOINT_UNREADABLE',
      `${place} in key group ${section.keyGroup} cannot be decoded: ${messageOf(error)}`,
      { cause: error, recoverable: false },
    );
  }
}
