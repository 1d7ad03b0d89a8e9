import { messageOf, WeirError } from '../errors.js';

/** What an accumulator begins with: a value, of which each key gets a copy, or a function that gives a new one. */
export type Seed<A> = A extends (...args: never) => unknown ? () => A : A | (() => A);

/** Gives a new accumulator at each call. CONFIG_INVALID for a value that cannot be copied. */
export function seedFunction<A>(seed: Seed<A>): () => A {
  if (typeof seed === 'function') return seed as () => A;
  // Not a function, so it is a value.
  const value = seed as A;
  if (value === undefined)
    throw invalid(
      'is missing: unlike that of RxJS, scan does not begin with the first record. Give what the accumulator of a new key begins with',
    );
  if (typeof value !== 'object' || value === null) return () => value;
  const copy = (): A => structuredClone(value);
  let copied: A;
  try {
    copied = copy();
  } catch (error) {
    throw invalid(`cannot be copied for each key (${messageOf(error)}): give a function that makes it`);
  }
  if (Object.getPrototypeOf(copied) !== Object.getPrototypeOf(value))
    throw invalid('is an object of a class, of which a copy would be none: give a function that makes it');
  return copy;
}

function invalid(what: string): WeirError {
  return new WeirError('CONFIG_INVALID', `The seed of scan ${what}.`, { recoverable: false });
}
