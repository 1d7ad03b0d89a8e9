import { partsOf } from './frozen-records.js';

/**
 * Spoils a value and all that can be reached from it, except for what `isSpared`: whoever uses any of it afterwards gets the error that `violation`
 * makes. What cannot be spoiled are the `length` of an array and the elements of typed arrays.
 */
export function expire(value: unknown, isSpared: (part: object) => boolean, violation: () => Error): void {
  const refuse = (): never => {
    throw violation();
  };
  // Everything that is looked up on the object and is no property of its own ends here: methods, iterators, absent names.
  const nothingHere = new Proxy({}, { get: refuse, set: refuse, has: refuse });
  const spoil = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || isSpared(part)) return;
    if (Object.getPrototypeOf(part) === nothingHere) return;
    const inner = partsOf(part);
    Object.setPrototypeOf(part, nothingHere);
    if (!ArrayBuffer.isView(part)) {
      for (const key of Reflect.ownKeys(part)) {
        if (Reflect.getOwnPropertyDescriptor(part, key)?.configurable === true)
          Object.defineProperty(part, key, { get: refuse, set: refuse, enumerable: true, configurable: true });
      }
    }
    for (const next of inner) spoil(next);
  };
  spoil(value);
}
