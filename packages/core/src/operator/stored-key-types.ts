import type { OperatorUid } from '../element/ids.js';
import type { Key } from '../element/key.js';
import { KEY_TYPES, keyTypeOf, type KeyType } from '../element/key-type.js';
import { WeirError } from '../errors.js';

/** What the keys of one operator in one subtask have been, and whether those that come are of the types that are stored. */
export class KeyTypes {
  readonly #operator: OperatorUid;
  readonly #seen = new Set<KeyType>();
  /** Until the first keys behind a restore. */
  #stored: readonly KeyType[] | undefined;

  constructor(operator: OperatorUid) {
    this.#operator = operator;
  }

  /** Undefined where none was told of: whoever sets keys by hand says nothing of them. */
  get seen(): readonly KeyType[] | undefined {
    return this.#seen.size === 0 ? undefined : KEY_TYPES.filter((type) => this.#seen.has(type));
  }

  /**
   * Types that are stored, and what the program declares. KEY_TYPE_CHANGED if it does not declare one of them. If it declares none, the first keys
   * that come are looked at.
   */
  restored(stored: readonly KeyType[], declared: readonly KeyType[] | undefined): void {
    const undeclared = stored.filter((type) => declared?.includes(type) === false);
    if (undeclared.length > 0)
      throw changed(this.#operator, undeclared, `keyBy declares keys of type ${(declared ?? []).join(' or ')}`);
    for (const type of stored) this.#seen.add(type);
    this.#stored = declared === undefined && stored.length > 0 ? stored : undefined;
  }

  came(key: Key): void {
    this.#seen.add(keyTypeOf(key));
  }

  /** To be told of each batch. KEY_TYPE_CHANGED if its keys are the first behind a restore, and none is of a type that is stored. */
  cameInBatch(keys: readonly Key[]): void {
    const stored = this.#stored;
    if (stored === undefined || keys.length === 0) return;
    this.#stored = undefined;
    const came = new Set(keys.map(keyTypeOf));
    if (stored.some((type) => came.has(type))) return;
    throw changed(this.#operator, stored, `records come with keys of type ${[...came].join(' and ')}`);
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
