import { WeirError } from '../errors.js';

/** Something inside a value that would not come back from a checkpoint as it was. */
export interface Fault {
  /** From the value to the place, as one would write it: `.items[3].cb`. */
  readonly path: string;
  /** Goes after the place in a sentence: "is a function". */
  readonly what: string;
}

/** A fault of the value itself; its containers put their part of the path before it with {@link inside}. */
export function fault(what: string): Fault {
  return { path: '', what };
}

/** The same fault, seen from the container. */
export function inside(step: string, found: Fault | undefined): Fault | undefined {
  return found && { path: step + found.path, what: found.what };
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** The step from an object to its property. */
export function propertyStep(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

export function refusalOf(found: Fault): WeirError {
  return new WeirError(
    'VALUE_NOT_SERIALIZABLE',
    `value${found.path} ${found.what}, which would not come back from a checkpoint as it was. ` +
      `Keep plain data in state, or give the state a serializer.`,
    { recoverable: false },
  );
}
