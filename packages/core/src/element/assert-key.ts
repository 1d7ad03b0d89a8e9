import { WeirError } from '../errors.js';
import type { Key } from './key.js';
import { isWellFormed } from './well-formed.js';

/** Tuples may nest this deep; deeper ones are refused, and with them those that contain themselves. */
export const MAX_KEY_DEPTH = 32;

/** True for the common kinds of key, at next to no cost; a state backend looks at the text of a string when it stores it first. */
export function isPlainKey(key: unknown): boolean {
  return typeof key === 'string' || (typeof key === 'number' && !Number.isNaN(key));
}

/**
 * Makes sure that `key` can be a key. Throws KEY_INVALID, saying what it is, for anything else and for what would not come back
 * equal or could never be found again (NaN). `where` names the operator that keyed by it.
 */
export function assertKey(key: unknown, where: string): asserts key is Key {
  const fault = faultOf(key, 0);
  if (fault === undefined) return;
  throw new WeirError(
    'KEY_INVALID',
    `${where} was given ${fault} as a key. A key is a string, a number other than NaN, a bigint, a boolean, or an array of these.`,
    { recoverable: false },
  );
}

function faultOf(key: unknown, depth: number): string | undefined {
  switch (typeof key) {
    case 'string':
      return isWellFormed(key) ? undefined : 'a string with a lone surrogate';
    case 'number':
      return Number.isNaN(key) ? 'NaN' : undefined;
    case 'bigint':
    case 'boolean':
      return undefined;
    case 'object':
      if (key === null) return 'null';
      if (Array.isArray(key)) return faultOfTuple(key, depth);
      return `an object (${Object.prototype.toString.call(key).slice(8, -1)})`;
    case 'undefined':
      return 'undefined';
    case 'function':
    case 'symbol':
      return `a ${typeof key}`;
  }
}

function faultOfTuple(tuple: readonly unknown[], depth: number): string | undefined {
  if (depth === MAX_KEY_DEPTH) return `an array nested deeper than ${MAX_KEY_DEPTH} or within itself`;
  for (let i = 0; i < tuple.length; i++) {
    const fault = faultOf(tuple[i], depth + 1);
    if (fault !== undefined) return depth === 0 ? `${fault} inside an array` : fault;
  }
  return undefined;
}
