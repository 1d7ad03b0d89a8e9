import type { KeyedStateStore } from '../contracts/state-backend.js';
import type { OperatorUid } from '../element/ids.js';
import type { Key } from '../element/key.js';
import { keyIdentity, type KeyIdentity } from '../element/key-identity.js';
import { keyTypeOf, type KeyType } from '../element/key-type.js';
import { WeirError } from '../errors.js';

// The types of keys in restored state, against those of the program that is there now. Entries come by the hash of their keys, so the first are as
// good a sample as any.

/** Entries of each state that are looked at. */
const MAX_ENTRIES = 1000;
/** Different keys that prove something: those of a program may be of several types. */
const PROOF = 100;

type Entries = Pick<KeyedStateStore, 'entries'>;

/** KEY_TYPE_CHANGED if there are keys of a type that the program does not declare. */
export function requireDeclaredTypes(
  operator: OperatorUid,
  store: Entries,
  states: readonly string[],
  declared: readonly KeyType[],
): void {
  for (const key of storedKeys(store, states)) {
    const type = keyTypeOf(key);
    if (!declared.includes(type))
      throw changed(operator, [type], `keyBy declares keys of type ${declared.join(' or ')}`);
  }
}

/**
 * For a program that declares none, with the first keys that come: KEY_TYPE_CHANGED if many keys are stored and all are of other types than these.
 * As a rule the first that is stored settles it.
 */
export function requireLikeStored(
  operator: OperatorUid,
  store: Entries,
  states: readonly string[],
  keys: readonly Key[],
): void {
  const came = new Set(keys.map(keyTypeOf));
  const types = new Set<KeyType>();
  const stored = new Set<KeyIdentity>();
  for (const key of storedKeys(store, states)) {
    const type = keyTypeOf(key);
    if (came.has(type)) return;
    types.add(type);
    stored.add(keyIdentity(key));
    if (stored.size === PROOF)
      throw changed(operator, [...types], `records come with keys of type ${[...came].join(' and ')}`);
  }
}

function* storedKeys(store: Entries, states: readonly string[]): Generator<Key, void, undefined> {
  for (const state of states) {
    let left = MAX_ENTRIES;
    for (const { key } of store.entries(state)) {
      yield key;
      if (--left === 0) break;
    }
  }
}

function changed(operator: OperatorUid, stored: readonly KeyType[], now: string): WeirError {
  return new WeirError(
    'KEY_TYPE_CHANGED',
    `The restored state of operator ${operator} has keys of type ${stored.join(' and ')}, and ${now}: no record would ever find it. ` +
      `Key by what it was keyed by, give the operator a new uid, or name all types that there may be: keyBy(key, { types: [...] }).`,
    { recoverable: false },
  );
}
