/** What a record can be keyed by. 1, '1' and 1n are different keys; -0 is 0. NaN, undefined, null, lone surrogates and objects are refused. */
export type Key = string | number | bigint | boolean | readonly Key[];
/** Gives the key of a record. Undefined: its key travels with it. */
export type KeyOf<T, K extends Key> = ((record: T) => K) | undefined;
